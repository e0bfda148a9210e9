#include "services/signal/sigmf/contents.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/datatype.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/signal/sigmf/core_keys.h"
#include "services/signal/sigmf/counted.h"
#include "services/signal/sigmf/metadata.h"
#include "services/signal/sigmf/origin_json.h"

namespace tapedeck::services::sigmf {
namespace {

using nlohmann::json;

// Of a label or a comment, as nodes take them. A longer one is kept among the details.
constexpr size_t kMaxTextBytes = 1024;

class ContentsReader {
 public:
  ContentsReader(const SigmfRecording& meta, Contents* out)
      : meta_(meta), layout_(out->layout), out_(*out) {}

  void Read() {
    const auto list = meta_.object.find("annotations");
    if (list != meta_.object.end()) {
      for (const json& one : *list) AddAnnotation(one, index_++);  // null has none
    }
    MergeGaps();
    const auto annotations = static_cast<std::ptrdiff_t>(out_.annotations.size());
    for (const PlacedCapture& one : layout_.captures) AddCapture(one);
    // Of one sample the capture comes first.
    std::rotate(out_.annotations.begin(), out_.annotations.begin() + annotations,
                out_.annotations.end());
    changed_.Tell("SIGMF_ANNOTATIONS_CUT", "annotations reach beyond the last sample and end there",
                  &out_.notes);
    beyond_.Tell("SIGMF_ANNOTATIONS_BEYOND", "annotations belong to no sample and are left out",
                 &out_.notes);
    no_room_.Tell("SIGMF_NO_ROOM",
                  "annotations or captures do not fit into a recording and are left out",
                  &out_.notes);
    long_.Tell("SIGMF_KEYS_LONG",
               "annotations or captures have keys beyond 16 KiB, which are left out", &out_.notes);
  }

 private:
  void AddAnnotation(json object, size_t number) {
    std::string place = absl::StrCat("annotations[", number, "]");
    const uint64_t offset = CountIn(meta_.object.at("global"), "core:offset").value_or(0);
    const uint64_t start = *CountIn(object, "core:sample_start");
    if (start < offset || start - offset > layout_.file_samples) return beyond_.Add(place);
    const uint64_t first = start - offset;
    const uint64_t left = layout_.file_samples - first;
    const auto told = CountIn(object, "core:sample_count");
    if (told.has_value() && *told > left) changed_.Add(place);
    const uint64_t count = std::min(told.value_or(left), left);
    Annotation one{.sample_start = layout_.PlaceOf(first), .foreign = true};
    if (count > 0) {
      one.sample_count = layout_.PlaceOf(first + count - 1) + 1 - one.sample_start;
    }
    const bool missing = TakeFlag("tapedeck:missing", &object);
    if (missing && count > 0) {
      layout_.gaps.push_back({.first = one.sample_start, .count = one.sample_count});
      return;
    }
    one.foreign = !TakeFlag("tapedeck:lost", &object);
    for (const char* key : {"core:sample_start", "core:sample_count"}) object.erase(key);
    one.label = TakeText("core:label", &object);
    one.comment = TakeText("core:comment", &object);
    Add(std::move(one), object, std::move(place));
  }

  static bool TakeFlag(const char* key, json* object) {
    const auto found = object->find(key);
    if (found == object->end() || *found != true) return false;
    object->erase(found);
    return true;
  }

  static std::string TakeText(const char* key, json* object) {
    std::string text = TextIn(*object, key).value_or("");
    if (text.empty() || text.size() > kMaxTextBytes) return "";
    object->erase(key);
    return text;
  }

  void AddCapture(const PlacedCapture& placed) {
    json object = meta_.object.at("captures")[placed.number];
    for (const char* key : {"core:sample_start", "core:global_index", "core:header_bytes"}) {
      object.erase(key);
    }
    if (!placed.odd_time) object.erase("core:datetime");
    std::vector<std::string> fields;
    TakeField("core:", "frequency", &object, &fields);
    const json all = object;
    for (const auto& [key, value] : all.items()) {
      if (!absl::StartsWith(key, kOwnKey)) continue;
      TakeField(kOwnKey, key.substr(sizeof(kOwnKey) - 1), &object, &fields);
    }
    const bool begins = placed.sample == 0 || IsBehindGap(placed.sample);
    if (begins && fields.empty() && object.empty()) return;
    Add({.sample_start = placed.sample,
         .label = kSignalLabel,
         .comment = absl::StrJoin(fields, " ")},
        object, absl::StrCat("captures[", placed.number, "]"));
  }

  static void TakeField(absl::string_view space, const std::string& name, json* object,
                        std::vector<std::string>* fields) {
    const std::string key = absl::StrCat(space, name);
    const auto found = object->find(key);
    if (found == object->end() || !found->is_number() || absl::StrContains(name, ' ')) return;
    std::string number = Dumped(*found);
    if (absl::EndsWith(number, ".0")) number.resize(number.size() - 2);
    fields->push_back(absl::StrCat(name, "=", number));
    object->erase(found);
  }

  bool IsBehindGap(uint64_t sample) const {
    const auto after = std::ranges::lower_bound(layout_.gaps, sample, {}, &Gap::first);
    if (after == layout_.gaps.begin()) return false;
    return std::prev(after)->first + std::prev(after)->count == sample;
  }

  void Add(Annotation one, const json& details, std::string place) {
    one.details = details.empty() ? "" : Dumped(details);
    if (one.details.size() > model::kMaxDetailsBytes) {
      one.details.clear();
      long_.Add(place);
    }
    const size_t bytes = BytesOf(one);
    if (bytes > kMaxAnnotationBytes - bytes_) return no_room_.Add(std::move(place));
    bytes_ += bytes;
    out_.annotations.push_back(std::move(one));
  }

  // In order, and none touches another.
  void MergeGaps() {
    std::ranges::sort(layout_.gaps, {}, &Gap::first);
    std::vector<Gap> merged;
    for (Gap& gap : layout_.gaps) {
      if (merged.empty() || merged.back().first + merged.back().count < gap.first) {
        merged.push_back(std::move(gap));
        continue;
      }
      const uint64_t end =
          std::max(merged.back().first + merged.back().count, gap.first + gap.count);
      merged.back().count = end - merged.back().first;
    }
    layout_.gaps = std::move(merged);
  }

  const SigmfRecording& meta_;
  Layout& layout_;
  Contents& out_;
  size_t index_ = 0;
  size_t bytes_ = 0;  // of annotations
  Counted changed_, beyond_, no_room_, long_;
};

// An export says what its samples are: spectra, where an fft is among the transforms.
void TakeTransforms(const json& global, Contents* out) {
  const auto origin = global.find("tapedeck:origin");
  if (origin == global.end() || !origin->is_object() || !origin->contains("transforms")) return;
  auto stages = StagesIn(origin->at("transforms"));
  if (!stages.has_value()) {
    out->notes.push_back(MakeNote(
        "TRANSFORMS_UNREAD", "global.tapedeck:origin: its transforms are not Tapedeck's list"));
    return;
  }
  out->transforms = *std::move(stages);
}

}  // namespace

absl::StatusOr<Contents> ReadContents(const SigmfRecording& meta, uint64_t data_bytes,
                                      double told_rate) {
  const auto type = dataplane::ParseDatatype(meta.datatype);
  if (!type.ok()) {
    return files::Invalid(meta.path,
                          absl::StrCat("global.core:datatype: ", type.status().message()));
  }
  if (meta.channels > 1) {
    return files::Invalid(
        meta.path,
        absl::StrCat("global.core:num_channels: ", meta.channels,
                     " channels alternate, and a recording holds one stream; make a file of each "
                     "channel, or import ",
                     meta.data_path.substr(meta.data_path.rfind('/') + 1), " with --format raw"));
  }
  const json& global = meta.object.at("global");
  Contents out{.sample_rate = NumberIn(global, "core:sample_rate").value_or(0),
               .sha512 = absl::AsciiStrToLower(TextIn(global, "core:sha512").value_or(""))};
  const double rate = told_rate > 0 ? told_rate : out.sample_rate;
  TD_ASSIGN_OR_RETURN(out.layout, ReadLayout(meta, data_bytes, type->bytes_per_sample(), rate));
  out.notes = out.layout.notes;
  TD_ASSIGN_OR_RETURN(out.metadata, MetadataOf(meta, &out.notes));
  TakeTransforms(global, &out);
  ContentsReader(meta, &out).Read();
  return out;
}

}  // namespace tapedeck::services::sigmf
