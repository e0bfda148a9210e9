#include "storage_node/format/manifest.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/config.h"
#include "storage_node/format/json_text.h"

namespace tapedeck::storage_node::format {
namespace {

using nlohmann::json;
using services::RecordingState;

constexpr uint64_t kManifestVersion = 1;

absl::StatusOr<RecordingState> ParseState(absl::string_view name) {
  for (const auto& [state, candidate] : services::kRecordingStateNames) {
    if (candidate == name) return state;
  }
  return absl::DataLossError(absl::StrCat("manifest.json: unknown state '", name, "'"));
}

absl::StatusOr<std::vector<SequenceRange>> ParseRanges(const json& object) {
  std::vector<SequenceRange> ranges;
  const auto list = object.find("missing");
  if (list == object.end()) return ranges;
  for (const json& pair : *list) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() ||
        !pair[1].is_number_unsigned()) {
      return absl::DataLossError("manifest.json: missing must hold pairs of numbers");
    }
    ranges.push_back({.first = pair[0].get<uint64_t>(), .count = pair[1].get<uint64_t>()});
  }
  return ranges;
}

std::map<std::string, std::string> ParseLabels(const json& object) {
  std::map<std::string, std::string> labels;
  const auto found = object.find("labels");
  if (found == object.end() || !found->is_object()) return labels;
  for (const auto& [key, value] : found->items()) {
    if (value.is_string()) labels[key] = value.get<std::string>();
  }
  return labels;
}

std::vector<services::Annotation> ParseAnnotations(const json& object) {
  std::vector<services::Annotation> annotations;
  const auto list = object.find("annotations");
  if (list == object.end() || !list->is_array()) return annotations;
  for (const json& one : *list) {
    annotations.push_back({.sample_start = UintAt(one, "sample_start"),
                           .sample_count = UintAt(one, "sample_count"),
                           .label = StringAt(one, "label"),
                           .comment = StringAt(one, "comment")});
  }
  return annotations;
}

json AnnotationsOf(const Manifest& manifest) {
  json list = json::array();
  for (const services::Annotation& annotation : manifest.annotations) {
    list.push_back({{"sample_start", annotation.sample_start},
                    {"sample_count", annotation.sample_count},
                    {"label", annotation.label},
                    {"comment", annotation.comment}});
  }
  return list;
}

absl::Status ParseOrigin(const json& object, Manifest* manifest) {
  TD_ASSIGN_OR_RETURN(manifest->identity.lun, Uuid::Parse(StringAt(object, "lun_uid")));
  TD_ASSIGN_OR_RETURN(manifest->identity.recording, Uuid::Parse(StringAt(object, "uid")));
  manifest->identity.channel = StringAt(object, "channel");
  manifest->identity.epoch = static_cast<uint32_t>(UintAt(object, "epoch"));
  manifest->id = StringAt(object, "id");
  manifest->members = static_cast<uint32_t>(UintAt(object, "members"));
  manifest->block_bytes = UintAt(object, "block_bytes");
  manifest->datatype = StringAt(object, "datatype");
  manifest->sample_rate = DoubleAt(object, "sample_rate");
  TD_ASSIGN_OR_RETURN(manifest->op, ParseOp(StringAt(object, "op")));
  TD_ASSIGN_OR_RETURN(manifest->commit, ParseCommit(StringAt(object, "commit")));
  manifest->labels = ParseLabels(object);
  manifest->annotations = ParseAnnotations(object);
  const auto kept = object.find("kept");
  manifest->kept = kept != object.end() && *kept == true;
  manifest->start_time_ns = IntAt(object, "start_time_ns");
  if (manifest->members == 0 || manifest->block_bytes == 0) {
    return absl::DataLossError("manifest.json: members and block_bytes must not be 0");
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t Manifest::missing_blocks() const {
  uint64_t count = 0;
  for (const SequenceRange& range : missing) count += range.count;
  return count;
}

IndexHeader Manifest::index_header() const {
  return {.lun = identity.lun,
          .recording = identity.recording,
          .block_bytes = static_cast<uint32_t>(block_bytes),
          .epoch = identity.epoch,
          .members = members};
}

std::string EncodeManifest(const Manifest& manifest) {
  json missing = json::array();
  for (const SequenceRange& range : manifest.missing) missing.push_back({range.first, range.count});
  return SealJson({{"version", kManifestVersion},
                   {"id", manifest.id},
                   {"lun_uid", manifest.identity.lun.ToString()},
                   {"uid", manifest.identity.recording.ToString()},
                   {"channel", manifest.identity.channel},
                   {"epoch", manifest.identity.epoch},
                   {"members", manifest.members},
                   {"block_bytes", manifest.block_bytes},
                   {"datatype", manifest.datatype},
                   {"sample_rate", manifest.sample_rate},
                   {"op", OpName(manifest.op)},
                   {"commit", CommitName(manifest.commit)},
                   {"labels", manifest.labels},
                   {"annotations", AnnotationsOf(manifest)},
                   {"kept", manifest.kept},
                   {"start_time_ns", manifest.start_time_ns},
                   {"state", services::StateName(manifest.state)},
                   {"blocks", manifest.blocks},
                   {"bytes", manifest.bytes},
                   {"durable_watermark", manifest.durable_watermark},
                   {"missing", missing},
                   {"end_time_ns", manifest.end_time_ns},
                   {"cause", manifest.cause}});
}

absl::StatusOr<Manifest> DecodeManifest(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const json object, OpenJson(text, "manifest.json"));
  if (const uint64_t version = UintAt(object, "version"); version != kManifestVersion) {
    return absl::DataLossError(absl::StrCat("manifest.json: version ", version, " is not known"));
  }
  Manifest manifest;
  TD_RETURN_IF_ERROR(ParseOrigin(object, &manifest));
  TD_ASSIGN_OR_RETURN(manifest.state, ParseState(StringAt(object, "state")));
  TD_ASSIGN_OR_RETURN(manifest.missing, ParseRanges(object));
  manifest.blocks = UintAt(object, "blocks");
  manifest.bytes = UintAt(object, "bytes");
  manifest.durable_watermark = UintAt(object, "durable_watermark");
  manifest.end_time_ns = IntAt(object, "end_time_ns");
  manifest.cause = StringAt(object, "cause");
  return manifest;
}

services::Recording ToRecording(const Manifest& manifest, absl::string_view channel) {
  return {.name = absl::StrCat(channel, "/recordings/", manifest.id),
          .uid = manifest.identity.recording.ToString(),
          .state = manifest.state,
          .blocks = manifest.blocks,
          .bytes = manifest.bytes,
          .missing_blocks = manifest.missing_blocks(),
          .durable_watermark = manifest.durable_watermark,
          .block_bytes = manifest.block_bytes,
          .datatype = manifest.datatype,
          .sample_rate = manifest.sample_rate,
          .commit = manifest.commit,
          .start_time_ns = manifest.start_time_ns,
          .end_time_ns = manifest.end_time_ns,
          .cause = manifest.cause,
          .labels = manifest.labels,
          .annotations = manifest.annotations,
          .kept = manifest.kept};
}

void AppendSequence(std::vector<SequenceRange>* ranges, uint64_t sequence) {
  if (!ranges->empty() && ranges->back().first + ranges->back().count == sequence) {
    ++ranges->back().count;
  } else {
    ranges->push_back({.first = sequence, .count = 1});
  }
}

}  // namespace tapedeck::storage_node::format
