#include "storage_node/format/sigmf.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "dataplane/crc32c.h"
#include "dataplane/datatype.h"
#include "storage_node/format/json_text.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::format {
namespace {

using nlohmann::json;

constexpr char kVersion[] = "1.2.5";
constexpr char kSignalLabel[] = "signal";
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

std::string TimeOf(int64_t ns) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E9SZ", absl::FromUnixNanos(ns), absl::UTCTimeZone());
}

class Sigmf {
 public:
  Sigmf(const Manifest& manifest, uint64_t sample_bytes, std::span<const SigmfRun> runs)
      : manifest_(manifest),
        block_samples_(manifest.block_bytes / sample_bytes),
        samples_(manifest.blocks * block_samples_),
        runs_(runs) {}

  std::string Text(const std::string& datatype) {
    for (const SigmfRun& run : runs_) AddRun(run);
    for (const services::Annotation& one : manifest_.annotations) AddAnnotation(one);
    for (const SequenceRange& gap : manifest_.missing) AddGap(gap);
    json object = {{"global", Global(datatype)},
                   {"captures", InOrder(captures_)},
                   {"annotations", InOrder(annotations_)}};
    object["global"][kCheck] = CheckOf(object);
    return JsonText(object, 2) + "\n";
  }

 private:
  json Global(const std::string& datatype) const {
    json global = {
        {"core:datatype", datatype},
        {"core:version", kVersion},
        {"core:recorder", "Tapedeck"},
        {"core:extensions", {{{"name", "tapedeck"}, {"version", "1.0.0"}, {"optional", true}}}},
        {"tapedeck:uid", manifest_.identity.recording.ToString()},
        {"tapedeck:recording", absl::StrCat(manifest_.identity.channel, "/", manifest_.id)},
        {"tapedeck:block_samples", block_samples_},
        {"tapedeck:state", services::model::NameOf(manifest_.state)}};
    const double rate = manifest_.sample_rate;
    if (rate >= kLeastRate && rate <= kMostHertz) global["core:sample_rate"] = rate;
    if (!manifest_.description.empty()) global["core:description"] = manifest_.description;
    if (!manifest_.labels.empty()) global["tapedeck:labels"] = manifest_.labels;
    return global;
  }

  // A sample of the stream: which one of the file it is, and of which run.
  struct Place {
    const SigmfRun* run = nullptr;
    uint64_t sample = 0;
  };
  std::optional<Place> Find(uint64_t index) const {
    const auto after = std::ranges::upper_bound(runs_, index, {}, &SigmfRun::sample_index);
    if (after == runs_.begin()) return std::nullopt;
    const SigmfRun& run = *std::prev(after);
    const uint64_t begin = run.block * block_samples_;
    if (index - run.sample_index > samples_ - begin) return std::nullopt;
    return Place{.run = &run, .sample = begin + (index - run.sample_index)};
  }

  void AddRun(const SigmfRun& run) {
    captures_[run.block * block_samples_] = {{"core:sample_start", run.block * block_samples_},
                                             {"core:global_index", run.sample_index},
                                             {"core:datetime", TimeOf(run.capture_ns)}};
  }

  void AddAnnotation(const services::Annotation& one) {
    const auto place = Find(one.sample_start);
    if (!place.has_value()) return;
    if (one.label == kSignalLabel) return AddSignal(one, *place);
    json annotation = {{"core:sample_start", place->sample}, {"core:label", one.label}};
    if (one.sample_count > 0) {
      annotation["core:sample_count"] = std::min(one.sample_count, samples_ - place->sample);
    }
    if (!one.comment.empty()) annotation["core:comment"] = one.comment;
    annotations_.emplace(place->sample, std::move(annotation));
  }

  // A new capture, unless one begins there.
  void AddSignal(const services::Annotation& one, const Place& place) {
    json& capture = captures_[place.sample];
    if (capture.is_null()) {
      capture = {{"core:sample_start", place.sample}, {"core:global_index", one.sample_start}};
      if (manifest_.sample_rate >= kLeastRate) {
        const auto since = static_cast<double>(one.sample_start - place.run->sample_index);
        capture["core:datetime"] =
            TimeOf(place.run->capture_ns +
                   static_cast<int64_t>(std::min(since / manifest_.sample_rate * 1e9, 9e18)));
      }
    }
    for (const absl::string_view field : absl::StrSplit(one.comment, ' ')) {
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(field, absl::MaxSplits('=', 1));
      double value = 0;
      if (!absl::SimpleAtod(parts.second, &value) || !(std::abs(value) <= kMostHertz)) continue;
      const bool core = parts.first == "frequency";
      capture[absl::StrCat(core ? "core:" : "tapedeck:", parts.first)] = value;
    }
  }

  void AddGap(const SequenceRange& gap) {
    const uint64_t first = gap.first * block_samples_;
    annotations_.emplace(
        first, json{{"core:sample_start", first},
                    {"core:sample_count", gap.count * block_samples_},
                    {"core:label", "missing"},
                    {"core:comment", absl::StrCat("not recorded: blocks ", gap.first, " to ",
                                                  gap.first + gap.count - 1)}});
  }

  template <typename BySample>
  static json InOrder(const BySample& objects) {
    json list = json::array();
    for (const auto& [sample, object] : objects) list.push_back(object);
    return list;
  }

  const Manifest& manifest_;
  const uint64_t block_samples_;
  const uint64_t samples_;
  const std::span<const SigmfRun> runs_;
  std::map<uint64_t, json> captures_;
  std::multimap<uint64_t, json> annotations_;
};

}  // namespace

std::vector<uint64_t> SigmfRunsOf(const Manifest& manifest) {
  std::vector<uint64_t> runs;
  uint64_t next = 0;
  for (const SequenceRange& gap : manifest.missing) {
    if (runs.size() == kMaxSigmfRuns) return runs;
    if (gap.first > next) runs.push_back(next);
    next = gap.first + gap.count;
  }
  if (next < manifest.blocks && runs.size() < kMaxSigmfRuns) runs.push_back(next);
  return runs;
}

bool IsOwnSigmf(absl::string_view text) {
  auto object = ParseJson(text, "sigmf-meta", kMaxManifestBytes);
  if (!object.ok() || !object->contains("global")) return false;
  json& global = (*object)["global"];
  if (!global.is_object() || !global.contains(kCheck)) return false;
  const json check = global[kCheck];
  global.erase(kCheck);
  return check == CheckOf(*object);
}

std::string EncodeSigmf(const Manifest& manifest, std::span<const SigmfRun> runs) {
  const auto label = manifest.labels.find("datatype");
  const std::string& datatype = label == manifest.labels.end() ? manifest.datatype : label->second;
  const auto parsed = dataplane::ParseDatatype(datatype);
  if (!parsed.ok()) return "";
  return Sigmf(manifest, parsed->bytes_per_sample(), runs).Text(datatype);
}

}  // namespace tapedeck::storage_node::format
