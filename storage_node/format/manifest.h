// manifest.json says what a recording is and how far it got. With the index and the data it is the
// truth. The catalog only repeats it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/model/seams/catalog.h"
#include "storage_node/format/identity.h"
#include "storage_node/format/index.h"

namespace tapedeck::storage_node::format {

struct SequenceRange {
  uint64_t first = 0;
  uint64_t count = 0;
  bool operator==(const SequenceRange&) const = default;
};

struct Manifest {
  std::string id;  // {recording}
  RecordingIdentity identity;
  uint32_t members = 1;
  uint64_t block_bytes = 0;
  std::string datatype;
  double sample_rate = 0;
  dataplane::TransferOp op = dataplane::TransferOp::kRead;
  dataplane::CommitLevel commit = dataplane::CommitLevel::kDurable;
  std::string description;
  std::map<std::string, std::string> labels;  // the user's own
  // How it was made, as its session said; nobody changes it later.
  services::model::Origin origin;
  std::optional<services::model::RecordingGroup> group;
  std::optional<services::model::Part> part;
  // Of a session in segments: the ID of the first, and which one this is. Empty: it is none.
  std::string stream;
  uint64_t segment = 0;
  uint64_t segment_blocks = 0;  // of its segments; 0: not known
  // Of a copy: the name of what it has its blocks from, on whatever node, and its uid. Empty: it is
  // none.
  std::string original;
  std::string original_uid;
  // What that one was a copy of, and so on, newest first.
  std::vector<std::string> earlier_originals;
  // Secret, 16 bytes as hex digits: its worker can go on with the recording. Empty: nobody can.
  std::string resume_token;
  int64_t open_time_ns = 0;  // when it was opened; a copy has its original's
  std::vector<services::Annotation> annotations;
  bool kept = false;  // whatever the LUN's policy says
  // Of two copies the one with more is newer: grows with each text that is written. 0: written when
  // there was no such number.
  uint64_t generation = 0;

  // Final from SEALED or SALVAGED on; zero before, or, of a recording that goes on, what is known
  // of what was there when it did.
  services::RecordingState state = services::RecordingState::kRecording;
  uint64_t blocks = 0;  // missing ones included
  uint64_t bytes = 0;   // of payload present
  uint64_t durable_watermark = 0;
  std::vector<SequenceRange> missing;  // exactly the blocks that are not there
  // Of its first sample, by the blocks that are there. None: nobody knows it.
  services::model::SampleTime start_time_ns;
  int64_t end_time_ns = 0;  // when it was closed
  std::string cause;
  services::StageTimes stage_times;  // none: not known

  // Before it is written anew.
  void Advance();
  uint64_t missing_blocks() const;
  // With as much of the manifest as the header has room for: what it was when it began, its labels
  // and description if they fit, and then its origin.
  IndexHeader index_header() const;
  EntryFormat entries() const { return EntryFormat::Of(block_bytes, identity.epoch); }
};

std::string EncodeManifest(const Manifest& manifest);
// DATA_LOSS: damaged, or with values that no recording has (limits.h). Whose it is, the caller
// checks.
absl::StatusOr<Manifest> DecodeManifest(absl::string_view text);
// Its check value is wrong, so nobody has written it so. One that is sound may be of a version that
// this build does not read.
bool IsDamagedManifest(absl::string_view text);

// As the catalog shows it. `channel` is luns/{lun}/channels/{channel}.
// Recording::etag.
inline std::string EtagOf(const Manifest& manifest) { return absl::StrCat(manifest.generation); }
services::Recording ToRecording(const Manifest& manifest, absl::string_view channel);

// What of it can change: the description and the labels.
void Describe(const services::RecordingUpdate& update, Manifest* manifest);

// Adds what is above all in `ranges`.
void AppendRange(std::vector<SequenceRange>* ranges, SequenceRange more);
// Whether one of `ranges`, which are in order, has it.
bool HasSequence(const std::vector<SequenceRange>& ranges, uint64_t sequence);
inline void AppendSequence(std::vector<SequenceRange>* ranges, uint64_t sequence) {
  AppendRange(ranges, {.first = sequence, .count = 1});
}

}  // namespace tapedeck::storage_node::format
