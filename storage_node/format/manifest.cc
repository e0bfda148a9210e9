#include "storage_node/format/manifest.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/rail_spec.h"
#include "storage_node/format/config.h"
#include "storage_node/format/json_fields.h"
#include "storage_node/format/json_text.h"
#include "storage_node/format/limits.h"
#include "storage_node/format/stored_fields.h"

namespace tapedeck::storage_node::format {
namespace {

using nlohmann::json;
using services::RecordingState;
using services::model::NameOf;

constexpr uint64_t kManifestVersion = 3;
constexpr uint64_t kStagesVersion = 1;

constexpr size_t kTokenDigits = 32;
// Of the original of a copy, wherever it was.
constexpr size_t kMaxOriginalBytes = 256;
constexpr size_t kMaxUidBytes = 64;

constexpr char kManifest[] = "manifest.json";

// Deletion is not written down.
absl::StatusOr<RecordingState> ParseState(absl::string_view name) {
  const auto state = services::model::EnumNamed<RecordingState>(name);
  if (state.ok() && *state != RecordingState::kDeleting) return *state;
  return absl::DataLossError("manifest.json: its state is not known");
}

// The word of an enum.
template <typename Enum>
absl::StatusOr<Enum> ParseWord(JsonFields& fields, const char* key) {
  const auto value = services::model::EnumNamed<Enum>(fields.Text(key));
  if (value.ok()) return *value;
  return absl::DataLossError(absl::StrCat(kManifest, ": ", key, ": ", value.status().message()));
}

bool IsToken(absl::string_view text) {
  return text.empty() ||
         (text.size() == kTokenDigits && std::ranges::all_of(text, absl::ascii_isxdigit));
}

// In order and apart, below `blocks`.
std::vector<SequenceRange> ParseRanges(JsonFields& fields, uint64_t blocks) {
  std::vector<SequenceRange> ranges;
  uint64_t end = 0;
  for (const json& pair : fields.List("missing")) {
    const bool numbers = pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() &&
                         pair[1].is_number_unsigned();
    const SequenceRange range =
        numbers ? SequenceRange{.first = pair[0].get<uint64_t>(), .count = pair[1].get<uint64_t>()}
                : SequenceRange();
    if (range.count == 0 || range.first < end || range.first > blocks ||
        range.count > blocks - range.first) {
      fields.Require(false, "missing", "has no ranges of blocks in order");
      return {};
    }
    end = range.first + range.count;
    ranges.push_back(range);
  }
  return ranges;
}

absl::StatusOr<std::vector<services::Annotation>> ParseAnnotations(JsonFields& fields) {
  std::vector<services::Annotation> annotations;
  for (const json& one : fields.List("annotations")) {
    fields.Require(one.is_object(), "annotations", "has one that is not an object");
    if (!one.is_object()) break;
    JsonFields marker(one, "manifest.json: annotations");
    annotations.push_back({.sample_start = marker.Uint("sample_start", UINT64_MAX),
                           .sample_count = marker.Uint("sample_count", UINT64_MAX),
                           .label = marker.Text("label"),
                           .comment = marker.Text("comment"),
                           .details = marker.Text("details"),
                           .foreign = marker.Bool("foreign")});
    TD_RETURN_IF_ERROR(marker.status());
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
    if (!annotation.details.empty()) list.back()["details"] = annotation.details;
    if (annotation.foreign) list.back()["foreign"] = true;
  }
  return list;
}

// A later version's words may mean something else: then nothing is known of it.
absl::StatusOr<services::StageTimes> ParseStages(JsonFields& fields) {
  services::StageTimes times;
  const json& object = fields.Map("stages");
  if (object.empty()) return times;
  JsonFields stages(object, "manifest.json: stages");
  if (stages.Uint("version", UINT64_MAX) != kStagesVersion) return times;
  const json& list = stages.List("times");
  stages.Require(list.size() <= services::model::kMaxStageTimes, "times", "are more than 128");
  for (const json& one : list) {
    const bool good = one.is_array() && one.size() == 3 && one[0].is_string() &&
                      one[1].is_string() && one[2].is_number_unsigned() &&
                      one[2].get<uint64_t>() <= uint64_t{services::model::kMaxDurationNs};
    stages.Require(good, "times", "has one that is not a word, rail and time");
    if (!stages.status().ok()) break;
    times.push_back({one[0].get<std::string>(), one[1].get<std::string>(), one[2].get<int64_t>()});
    stages.Require(times.back().what.size() <= services::model::kMaxStageWordBytes &&
                       times.back().rail.size() <= dataplane::kMaxRailNameBytes,
                   "times", "has a word that is too long");
  }
  TD_RETURN_IF_ERROR(stages.status());
  return times;
}

json StagesOf(const Manifest& manifest) {
  json list = json::array();
  for (const services::StageTime& time : manifest.stage_times) {
    list.push_back({time.what, time.rail, static_cast<uint64_t>(time.time_ns)});
  }
  return {{"version", kStagesVersion}, {"times", list}};
}

std::vector<std::string> ParseEarlier(JsonFields& fields) {
  std::vector<std::string> names;
  const json& list = fields.List("earlier_originals");
  fields.Require(list.size() <= services::model::kMaxEarlierOriginals, "earlier_originals",
                 "are more than 7");
  for (const json& one : list) {
    fields.Require(one.is_string() && one.get_ref<const std::string&>().size() <= kMaxOriginalBytes,
                   "earlier_originals", "has an invalid name");
    if (!fields.status().ok()) break;
    names.push_back(one.get<std::string>());
  }
  return names;
}

// None: it is absent.
template <typename Struct>
absl::StatusOr<std::optional<Struct>> ParseObject(JsonFields& fields, const char* key) {
  const json& object = fields.Map(key);
  TD_RETURN_IF_ERROR(fields.status());
  if (object.empty()) return std::nullopt;
  JsonFields inner(object, absl::StrCat(kManifest, ": ", key));
  Struct out = ReadStored<Struct>(inner);
  TD_RETURN_IF_ERROR(inner.status());
  return out;
}

// How it was made.
absl::Status ParseMaking(JsonFields& fields, Manifest* manifest) {
  TD_ASSIGN_OR_RETURN(auto origin, ParseObject<services::model::Origin>(fields, "origin"));
  if (origin.has_value()) manifest->origin = *std::move(origin);
  TD_ASSIGN_OR_RETURN(manifest->group,
                      ParseObject<services::model::RecordingGroup>(fields, "group"));
  TD_ASSIGN_OR_RETURN(manifest->part, ParseObject<services::model::Part>(fields, "part"));
  const std::string problem = services::model::OriginProblem(manifest->origin);
  fields.Require(problem.empty(), "origin", problem);
  if (manifest->group.has_value()) {
    fields.Require(services::model::CheckGroup(*manifest->group).ok(), "group", "is none");
  }
  if (manifest->part.has_value()) {
    fields.Require(services::model::CheckPart(*manifest->part).ok(), "part", "is none");
  }
  return fields.status();
}

absl::Status ParseBegin(JsonFields& fields, Manifest* manifest) {
  TD_ASSIGN_OR_RETURN(manifest->identity.lun, Uuid::Parse(fields.Text("lun_uid")));
  TD_ASSIGN_OR_RETURN(manifest->identity.recording, Uuid::Parse(fields.Text("uid")));
  manifest->identity.channel = fields.Id("channel");
  manifest->identity.epoch = fields.Uint32("epoch");
  manifest->id = fields.Id("id");
  manifest->members = fields.Uint32("members", kMaxMembers);
  manifest->block_bytes = fields.Uint("block_bytes", kMaxBlockBytes);
  manifest->datatype = fields.Text("datatype");
  manifest->sample_rate = fields.Rate("sample_rate");
  manifest->labels = fields.Texts("labels");
  manifest->description = fields.Text("description");
  fields.Require(manifest->description.size() <= services::model::kMaxDescriptionBytes,
                 "description", "is too long");
  if (!fields.Text("stream").empty()) manifest->stream = fields.Id("stream");
  manifest->segment = fields.Uint("segment", MaxBlocks(kBlockMultiple));
  manifest->segment_blocks = fields.Uint("segment_blocks", MaxBlocks(kBlockMultiple));
  manifest->original = fields.Text("original");
  manifest->original_uid = fields.Text("original_uid");
  fields
      .Require(manifest->original.size() <= kMaxOriginalBytes, "original", "is too long for a name")
      .Require(manifest->original_uid.size() <= kMaxUidBytes, "original_uid", "is none");
  manifest->earlier_originals = ParseEarlier(fields);
  manifest->resume_token = fields.Text("resume_token");
  fields.Require(IsToken(manifest->resume_token), "resume_token", "is none");
  manifest->kept = fields.Bool("kept");
  manifest->generation = fields.Uint("generation", kMaxGeneration);
  manifest->open_time_ns = fields.Int("open_time_ns", -kMaxTimeNs, kMaxTimeNs);
  TD_RETURN_IF_ERROR(fields.Require(manifest->members > 0, "members", "is 0")
                         .Require(IsBlockSize(manifest->block_bytes), "block_bytes",
                                  "is not a multiple of 512 up to 8 MiB")
                         .Require(dataplane::ParseDatatype(manifest->datatype).ok(), "datatype",
                                  "is not a SigMF datatype")
                         .status());
  TD_ASSIGN_OR_RETURN(manifest->op, ParseWord<dataplane::TransferOp>(fields, "transfer_op"));
  TD_ASSIGN_OR_RETURN(manifest->commit, ParseWord<dataplane::CommitLevel>(fields, "commit_level"));
  TD_ASSIGN_OR_RETURN(manifest->annotations, ParseAnnotations(fields));
  TD_RETURN_IF_ERROR(ParseMaking(fields, manifest));
  return fields.status();
}

// Of a manifest whose begin is known.
absl::Status ParseEnd(JsonFields& fields, Manifest* manifest) {
  TD_ASSIGN_OR_RETURN(manifest->state, ParseState(fields.Text("state")));
  manifest->blocks = fields.Uint("blocks", MaxBlocks(manifest->block_bytes));
  manifest->bytes = fields.Uint("bytes", manifest->blocks * manifest->block_bytes);
  manifest->durable_watermark = fields.Uint("durable_watermark", manifest->blocks);
  manifest->missing = ParseRanges(fields, manifest->blocks);
  manifest->start_time_ns = fields.IntOrNone("start_time_ns", -kMaxTimeNs, kMaxTimeNs);
  manifest->end_time_ns = fields.Int("end_time_ns", -kMaxTimeNs, kMaxTimeNs);
  manifest->cause = fields.Text("cause");
  TD_ASSIGN_OR_RETURN(manifest->stage_times, ParseStages(fields));
  return fields.status();
}

// The text that goes into an index header: of a recording that has just begun, without its secret.
std::string TextForHeader(const Manifest& manifest) {
  Manifest begun = manifest;
  begun.resume_token.clear();
  begun.annotations.clear();
  begun.stage_times.clear();
  begun.state = RecordingState::kRecording;
  begun.generation = begun.blocks = begun.bytes = begun.durable_watermark = 0;
  begun.start_time_ns.reset();
  begun.end_time_ns = 0;
  begun.kept = false;
  begun.missing.clear();
  begun.cause.clear();
  std::string text = EncodeManifest(begun);
  if (text.size() > kMaxHeaderManifestBytes) {
    begun.origin.metadata.clear();
    text = EncodeManifest(begun);
  }
  if (text.size() > kMaxHeaderManifestBytes) {
    begun.labels.clear();
    begun.description.clear();
    begun.earlier_originals.clear();
    text = EncodeManifest(begun);
  }
  if (text.size() > kMaxHeaderManifestBytes) {
    // What the samples are is needed to read them.
    begun.origin = {.datatype = begun.origin.datatype};
    text = EncodeManifest(begun);
  }
  return text.size() > kMaxHeaderManifestBytes ? "" : text;
}

}  // namespace

// A crafted one may be at the end already.
void Manifest::Advance() { generation = std::min(generation + 1, kMaxGeneration); }

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
          .members = members,
          .manifest = TextForHeader(*this)};
}

std::string EncodeManifest(const Manifest& manifest) {
  json missing = json::array();
  for (const SequenceRange& range : manifest.missing) missing.push_back({range.first, range.count});
  json object = {{"version", kManifestVersion},
                 {"id", manifest.id},
                 {"lun_uid", manifest.identity.lun.ToString()},
                 {"uid", manifest.identity.recording.ToString()},
                 {"channel", manifest.identity.channel},
                 {"epoch", manifest.identity.epoch},
                 {"members", manifest.members},
                 {"block_bytes", manifest.block_bytes},
                 {"datatype", manifest.datatype},
                 {"sample_rate", manifest.sample_rate},
                 {"transfer_op", NameOf(manifest.op)},
                 {"commit_level", NameOf(manifest.commit)},
                 {"labels", manifest.labels},
                 {"description", manifest.description},
                 {"stream", manifest.stream},
                 {"segment", manifest.segment},
                 {"annotations", AnnotationsOf(manifest)},
                 {"kept", manifest.kept},
                 {"generation", manifest.generation},
                 {"open_time_ns", manifest.open_time_ns},
                 {"state", NameOf(manifest.state)},
                 {"blocks", manifest.blocks},
                 {"bytes", manifest.bytes},
                 {"durable_watermark", manifest.durable_watermark},
                 {"missing", missing},
                 {"end_time_ns", manifest.end_time_ns},
                 {"cause", manifest.cause},
                 {"stages", StagesOf(manifest)}};
  if (manifest.start_time_ns.has_value()) object["start_time_ns"] = *manifest.start_time_ns;
  if (manifest.origin != services::model::Origin()) WriteStored(manifest.origin, object["origin"]);
  if (manifest.group.has_value()) WriteStored(*manifest.group, object["group"]);
  if (manifest.part.has_value()) WriteStored(*manifest.part, object["part"]);
  if (manifest.segment_blocks > 0) object["segment_blocks"] = manifest.segment_blocks;
  if (!manifest.original.empty()) {
    object["original"] = manifest.original;
    object["original_uid"] = manifest.original_uid;
  }
  if (!manifest.earlier_originals.empty()) {
    object["earlier_originals"] = manifest.earlier_originals;
  }
  if (!manifest.resume_token.empty()) object["resume_token"] = manifest.resume_token;
  return SealJson(std::move(object));
}

absl::StatusOr<Manifest> DecodeManifest(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const json object, OpenJson(text, kManifest, kMaxManifestBytes));
  JsonFields fields(object, kManifest);
  if (const uint64_t version = fields.Uint("version", UINT64_MAX); version != kManifestVersion) {
    return absl::DataLossError(absl::StrCat("manifest.json: version ", version, " is not known"));
  }
  Manifest manifest;
  TD_RETURN_IF_ERROR(ParseBegin(fields, &manifest));
  TD_RETURN_IF_ERROR(ParseEnd(fields, &manifest));
  return manifest;
}

bool IsDamagedManifest(absl::string_view text) {
  return !OpenJson(text, kManifest, kMaxManifestBytes).ok();
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
          .open_time_ns = manifest.open_time_ns,
          .start_time_ns = manifest.start_time_ns,
          .close_time_ns = manifest.end_time_ns,
          .cause = manifest.cause,
          .description = manifest.description,
          .labels = manifest.labels,
          .origin = manifest.origin,
          .group = manifest.group,
          .part = manifest.part,
          .annotations = manifest.annotations,
          .kept = manifest.kept,
          .stream = manifest.stream,
          .segment = manifest.segment,
          .original = manifest.original,
          .original_uid = manifest.original_uid,
          .earlier_originals = manifest.earlier_originals,
          .etag = EtagOf(manifest),
          .stage_times = manifest.stage_times};
}

void Describe(const services::RecordingUpdate& update, Manifest* manifest) {
  const services::Recording described =
      services::Updated({.description = manifest->description, .labels = manifest->labels}, update);
  manifest->description = described.description;
  manifest->labels = described.labels;
}

void AppendRange(std::vector<SequenceRange>* ranges, SequenceRange more) {
  if (!ranges->empty() && ranges->back().first + ranges->back().count == more.first) {
    ranges->back().count += more.count;
  } else {
    ranges->push_back(more);
  }
}

bool HasSequence(const std::vector<SequenceRange>& ranges, uint64_t sequence) {
  const auto after = std::ranges::upper_bound(ranges, sequence, {}, &SequenceRange::first);
  if (after == ranges.begin()) return false;
  const SequenceRange& range = *std::prev(after);
  return sequence < range.first + range.count;
}

}  // namespace tapedeck::storage_node::format
