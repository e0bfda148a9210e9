#include "services/session/protocol/answers.h"

#include "services/session/protocol/stream_values.h"

namespace tapedeck::services::session {

absl::Status CheckChannel(absl::string_view peer, const Channel& channel) {
  FieldCheck check(peer, "Channel");
  check.Text(channel.name, kMaxNameBytes, "name");
  CheckBlockBytes(check, channel.block_bytes);
  CheckSamples(check, channel.datatype, channel.sample_rate);
  check.Require(channel.pre_trigger_ns >= 0, "pre_trigger", "is negative")
      .Require(channel.post_trigger_ns >= 0, "post_trigger", "is negative")
      .Require(channel.segment_bytes <= kMaxStreamBytes, "segment_bytes", "is beyond any stream");
  return check.status();
}

absl::Status CheckRecording(absl::string_view peer, const Recording& recording) {
  FieldCheck check(peer, "Recording");
  check.Text(recording.name, kMaxNameBytes, "name");
  CheckBlockBytes(check, recording.block_bytes);
  CheckSamples(check, recording.datatype, recording.sample_rate);
  check
      .Require(IsBlockCount(recording.blocks, recording.block_bytes), "blocks",
               "is beyond any stream")
      .Require(recording.bytes <= kMaxStreamBytes, "bytes", "is beyond any stream")
      .Require(recording.missing_blocks <= recording.blocks, "missing_blocks",
               "is more than there are");
  CheckLabels(check, recording.labels);
  CheckMade(check, recording);
  return check.status();
}

}  // namespace tapedeck::services::session
