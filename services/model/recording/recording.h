// A recording and what was found wrong with it, in plain values. Field meanings are those of
// tapedeck/v1/catalog.proto.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataplane/block/flow.h"
#include "services/model/recording/damage_kind.h"
#include "services/model/recording/group.h"
#include "services/model/recording/origin.h"
#include "services/model/recording/part.h"
#include "services/model/recording/sample_time.h"
#include "services/model/words/description.h"
#include "services/model/words/field.h"
#include "services/model/words/names.h"
#include "services/model/words/stage_time.h"
#include "services/model/words/update.h"

namespace tapedeck::services::model {

enum class RecordingState { kRecording = 1, kSealed = 2, kSalvaged = 3, kDeleting = 4 };

template <>
struct EnumNames<RecordingState> {
  using enum RecordingState;
  static constexpr absl::string_view kWhat = "state of a recording";
  static constexpr std::pair<RecordingState, absl::string_view> kTable[] = {
      {kRecording, "RECORDING"},
      {kSealed, "SEALED"},
      {kSalvaged, "SALVAGED"},
      {kDeleting, "DELETING"}};
};

// Of SigMF; 0 samples: a point.
struct Annotation {
  uint64_t sample_start = 0;
  uint64_t sample_count = 0;
  std::string label;
  std::string comment;
  // A JSON object: the other keys of an imported annotation or capture. Empty: none.
  std::string details;
  bool foreign = false;  // of an imported file: its label is no mark of ours, whatever it says
  bool operator==(const Annotation&) const = default;
};

// How far annotations of a stream have been added.
struct Marked {
  size_t done = 0;           // so many, from the first on
  uint64_t next_sample = 0;  // of the next one, the samples before this are done; 0: none
  size_t left_out = 0;       // of those done: no segment has their samples any more
};

template <>
struct Fields<Annotation> {
  static constexpr auto kList =
      std::make_tuple(Describe(&Annotation::sample_start, {.name = "sample_start"}),
                      Describe(&Annotation::sample_count, {.name = "sample_count"}),
                      Describe(&Annotation::label, {.name = "label"}),
                      Describe(&Annotation::comment, {.name = "comment"}),
                      Describe(&Annotation::details, {.name = "details"}),
                      Describe(&Annotation::foreign, {.name = "foreign"}));
};

// Of the details of one annotation.
inline constexpr size_t kMaxDetailsBytes = 16 << 10;
// That one call adds.
inline constexpr size_t kMaxAnnotationsAtOnce = 1000;

// What the annotations of one recording may take together, with what each costs beside its words: a
// manifest, where some characters take six bytes, and an answer have all of them.
inline constexpr size_t kMaxAnnotationBytes = 512 << 10;
inline size_t BytesOf(const Annotation& annotation) {
  return 64 + WrittenBytes(annotation.label) + WrittenBytes(annotation.comment) +
         WrittenBytes(annotation.details);
}

inline size_t BytesOf(std::span<const Annotation> annotations) {
  size_t bytes = 0;
  for (const Annotation& one : annotations) bytes += BytesOf(one);
  return bytes;
}

// Whether it is a mark that Tapedeck itself has made.
inline bool IsMark(const Annotation& annotation, absl::string_view label) {
  return !annotation.foreign && annotation.label == label;
}

struct Recording {
  std::string name;  // luns/{lun}/channels/{channel}/recordings/{recording}
  std::string uid;
  RecordingState state = RecordingState::kRecording;
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  uint64_t missing_blocks = 0;
  uint64_t durable_watermark = 0;
  uint64_t block_bytes = 0;
  std::string datatype;
  double sample_rate = 0;
  dataplane::CommitLevel commit = dataplane::CommitLevel::kDurable;
  int64_t open_time_ns = 0;
  SampleTime start_time_ns;   // of its first sample; none: unknown
  int64_t close_time_ns = 0;  // when it was closed; 0 while recording
  std::string cause;
  std::string description;
  Labels labels;  // the user's own; nothing of ours is among them
  Origin origin;
  std::optional<RecordingGroup> group;  // none: it is in no group
  std::optional<Part> part;             // none: it is whole
  std::vector<Annotation> annotations;
  bool kept = false;
  // Of a session in segments: the ID of the first, and which one this is, from 0. Empty: it is
  // none.
  std::string stream;
  uint64_t segment = 0;
  // Of a copy: the name of what it has its blocks from, on whatever node, and its uid. Empty: it is
  // none.
  std::string original;
  std::string original_uid;
  // Of a copy of a copy: what `original` was a copy of, and so on, newest first.
  std::vector<std::string> earlier_originals;
  std::string etag;  // another one after each change
  // Of both ends, as far as is known. No entry of the list: for tapectl explain alone.
  StageTimes stage_times;
};

// The storage node says most of it; what it keeps is the manifest.
template <>
struct Fields<Recording> {
  static constexpr auto kList = std::make_tuple(
      Describe(&Recording::name, {.name = "name", .role = Role::kName}),
      Report(&Recording::uid, "uid"), Report(&Recording::state, "state", {.required = true}),
      Report(&Recording::blocks, "blocks"), Report(&Recording::bytes, "bytes"),
      Report(&Recording::missing_blocks, "missing_blocks"),
      Report(&Recording::durable_watermark, "durable_watermark"),
      Report(&Recording::block_bytes, "block_bytes"), Report(&Recording::datatype, "datatype"),
      Report(&Recording::sample_rate, "sample_rate"), Report(&Recording::commit, "commit_level"),
      Report(&Recording::open_time_ns, "open_time", {.unit = Unit::kTime}),
      Report(&Recording::start_time_ns, "start_time", {.unit = Unit::kTime}),
      Report(&Recording::close_time_ns, "close_time", {.unit = Unit::kTime}),
      Report(&Recording::cause, "cause"),
      Describe(&Recording::description,
               {.name = "description", .option = "description", .help = "Description for people"}),
      Describe(&Recording::labels, {.name = "labels",
                                    .option = "label",
                                    .help = "NAME=VALUE, for programs; repeat it for several",
                                    .zero = "no labels"}),
      Report(&Recording::origin, "origin"), Report(&Recording::group, "group"),
      Report(&Recording::part, "part"), Report(&Recording::annotations, "annotations"),
      Report(&Recording::kept, "kept"), Report(&Recording::stream, "stream"),
      Report(&Recording::segment, "segment"), Report(&Recording::original, "original"),
      Report(&Recording::original_uid, "original_uid"),
      Report(&Recording::earlier_originals, "earlier_originals"), Report(&Recording::etag, "etag"));
};

// A recording that was copied more often is not found under its first names.
inline constexpr size_t kMaxEarlierOriginals = 7;

using RecordingUpdate = Update<Recording>;

// Of a block's payload.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  bool operator==(const ByteRange&) const = default;
};

template <>
struct Fields<ByteRange> {
  static constexpr auto kList = std::make_tuple(Describe(&ByteRange::offset, {.name = "offset"}),
                                                Describe(&ByteRange::bytes, {.name = "bytes"}));
};

struct DamagedBlock {
  uint64_t sequence = 0;
  DamageKind kind = DamageKind::kNone;
  std::string detail;
  std::vector<ByteRange> ranges;  // what is bad of it; empty: all, or unknown
  uint32_t stray_crc32c = 0;      // of the bytes found, if no part of them belongs there
  bool operator==(const DamagedBlock&) const = default;
};

// The storage node says it.
template <>
struct Fields<DamagedBlock> {
  static constexpr auto kList = std::make_tuple(
      Report(&DamagedBlock::sequence, "sequence"),
      Report(&DamagedBlock::kind, "kind", {.grows = true}), Report(&DamagedBlock::detail, "detail"),
      Report(&DamagedBlock::ranges, "ranges"), Report(&DamagedBlock::stray_crc32c, "stray_crc32c"));
};

struct VerifyProgress {
  uint64_t checked_blocks = 0;
  uint64_t blocks = 0;
  std::vector<DamagedBlock> damaged;  // since the last report
};

}  // namespace tapedeck::services::model

namespace tapedeck::services {

using model::Annotation;
using model::ByteRange;
using model::BytesOf;
using model::DamagedBlock;
using model::kMaxAnnotationBytes;
using model::Recording;
using model::RecordingState;
using model::RecordingUpdate;
using model::VerifyProgress;

}  // namespace tapedeck::services
