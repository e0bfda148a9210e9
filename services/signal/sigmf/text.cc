#include "services/signal/sigmf/text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/crc/crc32c.h"
#include "services/signal/sigmf/foreign_json.h"
#include "services/signal/sigmf/origin_json.h"

namespace tapedeck::services::sigmf {
namespace {

using nlohmann::json;

// What SigMF's schema lets be.
constexpr double kLeastRate = 1;
constexpr double kMostHertz = 1e12;

// In `global`: the CRC32C of all else.
constexpr char kCheck[] = "tapedeck:check";

std::string JsonText(const json& object, int indent) {
  return object.dump(indent, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

std::string CheckOf(const json& object) {
  const std::string text = JsonText(object, -1);
  return absl::StrCat(dataplane::Crc32c(std::as_bytes(std::span<const char>(text))));
}

// Without its samples before `begin`, if it lasts beyond.
Annotation CutTo(uint64_t begin, Annotation one) {
  const uint64_t before = begin - std::min(begin, one.sample_start);
  return one.sample_count <= before ? one : model::PartOf(std::move(one), begin, UINT64_MAX);
}

class Text {
 public:
  explicit Text(const Metadata& metadata)
      : metadata_(metadata), others_(ObjectOr(metadata.origin.metadata)) {}

  std::string Make() {
    for (const Run& run : metadata_.runs) AddRun(run);
    for (const Annotation& one : metadata_.annotations) AddAnnotation(one);
    AddEarlier();
    for (const Gap& gap : metadata_.gaps) AddGap(gap);
    json object = others_;
    object["global"] = Global();
    object["captures"] = InOrder(captures_);
    object["annotations"] = InOrder(annotations_);
    object["global"][kCheck] = CheckOf(object);
    return JsonText(object, 2) + "\n";
  }

 private:
  // An empty one for what is no object.
  static json ObjectOr(const std::string& text) {
    json object = ObjectOf(text);
    return object.is_object() ? object : json::object();
  }

  json Global() const {
    json global = others_.value("global", json::object());
    if (!global.is_object()) global = json::object();
    if (!global.contains("core:recorder")) global["core:recorder"] = "Tapedeck";
    json& extensions = global["core:extensions"];
    if (!extensions.is_array()) extensions = json::array();
    extensions.push_back({{"name", "tapedeck"}, {"version", "1.0.0"}, {"optional", true}});
    global.update({{"core:datatype", metadata_.datatype},
                   {"core:version", kVersion},
                   {"tapedeck:uid", metadata_.uid},
                   {"tapedeck:recording", metadata_.recording},
                   {"tapedeck:block_samples", metadata_.block_samples},
                   {"tapedeck:state", metadata_.state}});
    const double rate = metadata_.sample_rate;
    if (rate >= kLeastRate && rate <= kMostHertz) global["core:sample_rate"] = rate;
    if (!metadata_.description.empty()) global["core:description"] = metadata_.description;
    if (!metadata_.collection.empty()) global["core:collection"] = metadata_.collection;
    if (!metadata_.labels.empty()) global["tapedeck:labels"] = metadata_.labels;
    if (metadata_.origin != model::Origin()) global["tapedeck:origin"] = JsonOf(metadata_.origin);
    if (metadata_.group.has_value()) global["tapedeck:group"] = JsonOf(*metadata_.group);
    return global;
  }

  // Which sample of the stream the file begins with; it may be missing.
  uint64_t Begin() const {
    const Run& front = metadata_.runs.front();
    return front.sample_index - std::min(front.sample, front.sample_index);
  }

  // Which sample of the file one of the stream is; none: it is before the first or behind the last.
  std::optional<uint64_t> Find(uint64_t index) const {
    if (metadata_.runs.empty() || index < Begin()) return std::nullopt;
    const auto after = std::ranges::upper_bound(metadata_.runs, index, {}, &Run::sample_index);
    const Run begin{.sample_index = Begin()};
    const Run& run = after == metadata_.runs.begin() ? begin : *std::prev(after);
    if (index - run.sample_index >= metadata_.samples - run.sample) return std::nullopt;
    return run.sample + (index - run.sample_index);
  }

  json Capture(uint64_t sample, uint64_t index) const {
    json capture = {{"core:sample_start", sample}, {"core:global_index", index}};
    const auto time_ns = model::TimeAfter(metadata_.start_time_ns, sample, metadata_.sample_rate);
    if (time_ns.has_value()) capture["core:datetime"] = TimeOf(*time_ns);
    return capture;
  }

  void AddRun(const Run& run) { captures_[run.sample] = Capture(run.sample, run.sample_index); }

  void AddAnnotation(const Annotation& told) {
    const bool signal = model::IsMark(told, kSignalLabel);
    Annotation one = signal || metadata_.runs.empty() ? told : CutTo(Begin(), told);
    const auto place = Find(one.sample_start);
    const bool earlier =
        !metadata_.runs.empty() && one.sample_start < metadata_.runs.front().sample_index;
    if (signal && earlier) earlier_[one.sample_start] = SignalFields(one.comment);
    if (!place.has_value()) return;
    if (signal) return AddSignal(one, *place);
    const uint64_t begin = one.sample_start;
    one = model::PartOf(std::move(one), begin,
                        begin + std::min(metadata_.samples - *place, UINT64_MAX - begin));
    json annotation = ObjectOr(one.details);
    annotation["core:sample_start"] = *place;
    // Without a count it would last to the end.
    annotation["core:sample_count"] = one.sample_count;
    if (!one.label.empty()) annotation["core:label"] = one.label;
    if (!one.comment.empty()) annotation["core:comment"] = one.comment;
    if (model::IsMark(one, kLostLabel)) annotation["tapedeck:lost"] = true;
    annotations_.emplace(*place, std::move(annotation));
  }

  // A new capture, unless one begins there.
  void AddSignal(const Annotation& one, uint64_t sample) {
    json& capture = captures_[sample];
    if (capture.is_null()) capture = Capture(sample, one.sample_start);
    json details = ObjectOr(one.details);
    for (const char* key : {"core:sample_start", "core:global_index"}) details.erase(key);
    capture.update(details);
    for (const auto& [field, value] : SignalFields(one.comment)) {
      capture[KeyOf(field)] = value;
    }
  }

  // What was told before the first sample holds there, unless something newer does.
  void AddEarlier() {
    std::map<std::string, double> fields;
    for (const auto& [sample, told] : earlier_) {
      for (const auto& [field, value] : told) fields[field] = value;
    }
    if (fields.empty()) return;
    json& capture = captures_[metadata_.runs.front().sample];
    for (const auto& [field, value] : fields) {
      const std::string key = KeyOf(field);
      if (!capture.contains(key)) capture[key] = value;
    }
  }

  static std::string KeyOf(const std::string& field) {
    return absl::StrCat(field == "frequency" ? "core:" : "tapedeck:", field);
  }

  void AddGap(const Gap& gap) {
    annotations_.emplace(gap.first, json{{"core:sample_start", gap.first},
                                         {"core:sample_count", gap.count},
                                         {"core:label", "missing"},
                                         {"core:comment", gap.comment},
                                         {"tapedeck:missing", true}});
  }

  template <typename BySample>
  static json InOrder(const BySample& objects) {
    json list = json::array();
    for (const auto& [sample, object] : objects) list.push_back(object);
    return list;
  }

  const Metadata& metadata_;
  const json others_;  // what the file of an import said
  std::map<uint64_t, json> captures_;
  std::map<uint64_t, std::map<std::string, double>> earlier_;  // signals before the first sample
  std::multimap<uint64_t, json> annotations_;
};

}  // namespace

std::map<std::string, double> SignalFields(absl::string_view comment) {
  std::map<std::string, double> fields;
  for (const absl::string_view field : absl::StrSplit(comment, ' ')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(field, absl::MaxSplits('=', 1));
    double value = 0;
    if (!absl::SimpleAtod(parts.second, &value) || !(std::abs(value) <= kMostHertz)) continue;
    fields[std::string(parts.first)] = value;
  }
  return fields;
}

std::vector<Annotation> NewestSignals(std::span<const Annotation> annotations) {
  std::map<std::string, const Annotation*> signals;  // by field
  for (const Annotation& one : annotations) {
    if (!model::IsMark(one, kSignalLabel)) continue;
    for (const auto& [field, value] : SignalFields(one.comment)) {
      const Annotation*& newest = signals[field];
      if (newest == nullptr || newest->sample_start <= one.sample_start) newest = &one;
    }
  }
  std::set<const Annotation*> told;  // in order
  for (const auto& [field, one] : signals) told.insert(one);
  std::vector<Annotation> newest;
  for (const Annotation* one : told) newest.push_back(*one);
  return newest;
}

std::vector<Annotation> LastingTo(uint64_t begin, std::span<const Annotation> before) {
  std::vector<Annotation> lasting;
  for (const Annotation& one : before) {
    if (model::IsMark(one, kSignalLabel)) continue;
    Annotation cut = CutTo(begin, one);
    if (cut.sample_start >= begin) lasting.push_back(std::move(cut));
  }
  std::ranges::copy(NewestSignals(before), std::back_inserter(lasting));
  return lasting;
}

std::string Encode(const Metadata& metadata) { return Text(metadata).Make(); }

bool IsOwn(json object) {
  if (!object.is_object() || !object.contains("global")) return false;
  json& global = object["global"];
  if (!global.is_object() || !global.contains(kCheck)) return false;
  const json check = global[kCheck];
  global.erase(kCheck);
  return check == CheckOf(object);
}

}  // namespace tapedeck::services::sigmf
