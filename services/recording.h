// A recording and what was found wrong with it, in plain values. Field meanings are those of
// tapedeck/v1/catalog.proto.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataplane/flow.h"
#include "services/damage_kind.h"

namespace tapedeck::services {

enum class RecordingState { kRecording = 1, kSealed = 2, kSalvaged = 3, kDeleting = 4 };

// In manifests and for people.
inline constexpr std::pair<RecordingState, absl::string_view> kRecordingStateNames[] = {
    {RecordingState::kRecording, "RECORDING"},
    {RecordingState::kSealed, "SEALED"},
    {RecordingState::kSalvaged, "SALVAGED"},
    {RecordingState::kDeleting, "DELETING"}};

inline std::string StateName(RecordingState state) {
  for (const auto& [candidate, name] : kRecordingStateNames) {
    if (candidate == state) return std::string(name);
  }
  return "-";
}

// Of SigMF; 0 samples: a point.
struct Annotation {
  uint64_t sample_start = 0;
  uint64_t sample_count = 0;
  std::string label;
  std::string comment;
  bool operator==(const Annotation&) const = default;
};

// What the annotations of one recording may take together, with what each costs beside its words: a
// manifest, where some characters take six bytes, and an answer have all of them.
inline constexpr size_t kMaxAnnotationBytes = 512 << 10;
inline size_t BytesOf(const Annotation& annotation) {
  size_t bytes = 64;
  for (const std::string* text : {&annotation.label, &annotation.comment}) {
    for (const unsigned char c : *text) bytes += c < 0x20 || c == '"' || c == '\\' ? 6 : 1;
  }
  return bytes;
}

inline size_t LabelBytes(const std::map<std::string, std::string>& labels) {
  size_t bytes = 0;
  for (const auto& [key, value] : labels) bytes += key.size() + value.size();
  return bytes;
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
  int64_t start_time_ns = 0;
  int64_t end_time_ns = 0;  // 0 while recording
  std::string cause;
  std::map<std::string, std::string> labels;
  std::vector<Annotation> annotations;
  bool kept = false;
  // Of a session in segments: the ID of the first, and which one this is, from 0. Empty: it is
  // none.
  std::string stream;
  uint64_t segment = 0;
};

// Of a block's payload.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  bool operator==(const ByteRange&) const = default;
};

struct DamagedBlock {
  uint64_t sequence = 0;
  DamageKind kind = DamageKind::kNone;
  std::string detail;
  std::vector<ByteRange> ranges;  // what is bad of it; empty: all, or unknown
  uint32_t stray_crc32c = 0;      // of the bytes found, if no part of them belongs there
};

struct VerifyProgress {
  uint64_t checked_blocks = 0;
  uint64_t blocks = 0;
  std::vector<DamagedBlock> damaged;  // since the last report
};

}  // namespace tapedeck::services
