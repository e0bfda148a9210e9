#include "services/session/protocol/check.h"

#include <algorithm>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "dataplane/transport/rail_spec.h"
#include "services/base/errors.h"
#include "services/model/recording/recording.h"
#include "services/session/protocol/stream_values.h"

namespace tapedeck::services::session {
namespace {

using dataplane::kMaxRailAddressBytes;
using dataplane::kMaxRailNameBytes;

constexpr size_t kMaxRails = 64;
constexpr size_t kMaxCaptures = 256;
// Words for people: errors name every rail with its cause.
constexpr size_t kMaxTextBytes = 16 << 10;
constexpr size_t kMaxMetadata = 64;
// W3C Trace Context: a traceparent has 55 bytes, a tracestate is to be kept up to 512.
constexpr size_t kMaxTraceBytes = 512;
constexpr size_t kMaxIdBytes = 64;
constexpr int64_t kMaxClockNs = int64_t{1} << 60;  // 36 years after a machine has started
// No memory of a worker or node is larger.
constexpr uint64_t kMaxWindowBytes = uint64_t{1} << 46;

constexpr size_t kTokenBytes = 16;

bool IsOp(TransferOp op) { return op >= TransferOp::kRead && op <= TransferOp::kSend; }

struct MessageCheck {
  const Known& known;
  absl::Status operator()(const Open& open) const { return CheckOpen(known, open); }
  absl::Status operator()(const Accept& accept) const { return CheckAccept(known, accept); }
  absl::Status operator()(const RailOffer& offer) const { return CheckRailOffer(known, offer); }
  absl::Status operator()(const EndOfStream& end) const { return CheckEndOfStream(known, end); }
  absl::Status operator()(const Progress& progress) const { return CheckProgress(known, progress); }
  absl::Status operator()(const Finished& finished) const { return CheckFinished(known, finished); }
};

void CheckCounts(FieldCheck& check, const Known& known, const Progress& progress) {
  const uint64_t most = known.sent.value_or(kMaxStreamBytes);
  const auto count = [&](uint64_t value, uint64_t limit, absl::string_view field) {
    check.Require(value <= limit, field, absl::StrCat("is ", value, ", above ", limit));
  };
  count(progress.watermarks.received, most, "received");
  count(progress.watermarks.written, most, "written");
  count(progress.watermarks.durable, most, "durable");
  count(progress.blocks, kMaxStreamBytes, "blocks");
  count(progress.bytes, kMaxStreamBytes, "bytes");
  for (const auto& counter : dataplane::kCounters) {
    count(progress.counters.*counter.member, kMaxStreamBytes, counter.name);
  }
  check.Require(progress.phase.size() <= kMaxNameBytes, "phase", "is too long");
  check.Require(progress.memory_ready.value_or(0) >= 0 && progress.memory_ready.value_or(0) <= 1,
                "memory_ready", "is not between 0 and 1");
  check.Require(progress.captures.size() <= kMaxCaptures, "captures", "are more than 256");
  for (const std::string& name : progress.captures) {
    check.Text(name, kMaxNameBytes, "captures");
  }
  check.Require(progress.verifier.size() <= kMaxIdBytes, "verifier", "is longer than 64 bytes")
      .Require(progress.rails.size() <= kMaxRails, "rails", "are more than 64");
  for (const int64_t ns :
       {progress.clock.sent_ns, progress.clock.heard_sent_ns, progress.clock.heard_ns}) {
    check.Require(ns >= 0 && ns <= kMaxClockNs, "clock", "is not a possible time");
  }
  for (const RailProgress& rail : progress.rails) {
    check.Text(rail.name, kMaxRailNameBytes, "rails.name");
    count(rail.blocks, kMaxStreamBytes, "rails.blocks");
    count(rail.bytes, kMaxStreamBytes, "rails.bytes");
    check.Require(rail.cause.size() <= kMaxTextBytes, "rails.cause", "is longer than 16 KiB");
  }
  check.Require(progress.stage_times.size() <= model::kMaxStageTimes, "stage_times",
                "are more than 128");
  for (const model::StageTime& time : progress.stage_times) {
    check.Text(time.what, model::kMaxStageWordBytes, "stage_times.what")
        .Text(time.rail, kMaxRailNameBytes, "stage_times.rail")
        .Require(time.time_ns >= 0 && time.time_ns <= model::kMaxDurationNs, "stage_times.time",
                 "is not a time that a transfer may last");
  }
}

void CheckResume(FieldCheck& check, const Open& open) {
  if (!open.resume.has_value()) return;
  check.Require(open.direction == Direction::kRecord, "resume", "does not belong in a playback")
      .Text(open.resume->recording, kMaxNameBytes, "resume.recording")
      .Require(open.resume->token.size() == kTokenBytes, "resume.token", "must have 16 bytes")
      .Require(IsBlockCount(open.resume->first_block, open.slot_bytes), "resume.first_block",
               "is beyond any stream");
}

void CheckOriginal(FieldCheck& check, const Open& open) {
  if (!open.original.has_value()) return;
  const int64_t open_ns = open.original->open_time_ns;
  check.Require(open.direction == Direction::kRecord, "original", "does not belong in a playback")
      .Text(open.original->recording, kMaxNameBytes, "original.recording")
      .Text(open.original->uid, kMaxIdBytes, "original.uid")
      .Require(!open.original->recording.empty() && !open.original->uid.empty(), "original",
               "has no name")
      .Require(open_ns >= -model::kMaxTimeNs && open_ns <= model::kMaxTimeNs, "original.open_time",
               "is not a possible time")
      .Require(open.original->earlier.size() <= model::kMaxEarlierOriginals, "original.earlier",
               "are more than 7");
  for (const std::string& name : open.original->earlier) {
    check.Text(name, kMaxNameBytes, "original.earlier");
  }
}

// What an answer says of the recording that goes on, or is new.
void CheckResumed(FieldCheck& check, const std::optional<Resume>& asked, const Accept& accept) {
  check
      .Require(accept.resume_token.empty() || accept.resume_token.size() == kTokenBytes,
               "resume_token", "must have 16 bytes")
      .Require(accept.verifier.size() <= kMaxIdBytes, "verifier", "is longer than 64 bytes")
      .Require(IsBlockCount(accept.next_block, accept.block_bytes), "next_block",
               "is beyond any stream")
      .Require(accept.next_block >= (asked.has_value() ? asked->first_block : 0), "next_block",
               "is below what was offered")
      .Require(asked.has_value() || accept.next_block == 0, "next_block", "was not requested")
      .Require(!asked.has_value() || accept.recording == asked->recording, "recording",
               "is not the one requested")
      .Require(accept.missing_blocks <= accept.next_block, "missing_blocks",
               "are more than the blocks before next_block");
}

}  // namespace

absl::Status CheckOpen(const Known& known, const Open& open) {
  // Another version has other rules: it is told which one is spoken here.
  if (open.version != kProtocolVersion) return absl::OkStatus();
  FieldCheck check(known.peer, "Open");
  check
      .Require(open.direction == Direction::kRecord || open.direction == Direction::kPlayback,
               "direction", "is not known")
      .Text(open.channel, kMaxNameBytes, "channel")
      .Text(open.recording, kMaxNameBytes, "recording")
      .Text(open.recorder, kMaxNameBytes, "recorder")
      .Text(open.request_id, kMaxIdBytes, "request_id")
      .Text(open.traceparent, kMaxTraceBytes, "traceparent")
      .Text(open.tracestate, kMaxTraceBytes, "tracestate")
      .Require(!open.op.has_value() || IsOp(*open.op), "transfer_op", "is not known")
      .Require(open.slots >= 1 && open.slots <= kMaxSlots, "slots", "is not 1 to 16777216")
      .Require(open.slot_bytes == 0 || IsBlockSize(open.slot_bytes), "slot_bytes",
               "is not a multiple of 4096 up to 8 MiB")
      .Require(IsBlockCount(open.expected_blocks, open.slot_bytes), "expected_blocks",
               "is beyond any stream");
  CheckResume(check, open);
  CheckOriginal(check, open);
  CheckLabels(check, open.labels);
  CheckMade(check, open);
  using Unit = Playhead::Unit;
  check
      .Require(open.playhead.unit == Unit::kTime || open.playhead.start >= 0, "playhead",
               "begins before the first block")
      .Require(open.playhead.behind_ns >= 0, "playhead.behind", "is negative");
  return check.status();
}

absl::Status CheckAccept(const Known& known, const Accept& accept) {
  FieldCheck check(known.peer, "Accept");
  check.Text(accept.session, kMaxIdBytes, "session")
      .Text(accept.recording, kMaxNameBytes, "recording");
  CheckSamples(check, accept.datatype, accept.sample_rate);
  check.Require(IsOp(accept.op), "transfer_op", "is not known")
      .Require(accept.commit >= CommitLevel::kReceived && accept.commit <= CommitLevel::kDurable,
               "commit_level", "is not known");
  CheckBlockBytes(check, accept.block_bytes);
  if (known.asked != nullptr) {
    const Open& asked = *known.asked;
    check
        .Require(asked.slot_bytes == 0 || accept.block_bytes == asked.slot_bytes, "block_bytes",
                 absl::StrCat("is ", accept.block_bytes, ", not ", asked.slot_bytes, " as before"))
        .Require(accept.op == asked.op.value_or(accept.op), "transfer_op",
                 "is not the one requested");
    CheckResumed(check, asked.resume, accept);
  }
  check.Require(accept.slots >= 1 && accept.slots <= kMaxSlots, "slots", "is not 1 to 16777216")
      .Require(IsBlockCount(accept.blocks, accept.block_bytes), "blocks", "is beyond any stream")
      .Require(IsBlockCount(accept.first_block, accept.block_bytes), "first_block",
               "is beyond any stream")
      .Require(accept.rails.size() <= kMaxRails, "rails", "are more than 64");
  for (const RailName& rail : accept.rails) {
    check.Text(rail.name, kMaxRailNameBytes, "rails.name")
        .Text(rail.transport, kMaxRailNameBytes, "rails.transport")
        .Text(rail.address, kMaxRailAddressBytes, "rails.address");
  }
  CheckLabels(check, accept.labels);
  return check.status();
}

absl::Status CheckRailOffer(const Known& known, const RailOffer& offer) {
  FieldCheck check(known.peer, "RailOffer");
  check.Require(!offer.rail.empty(), "rail", "is empty")
      .Text(offer.rail, kMaxRailNameBytes, "rail")
      .Require(offer.window.bytes <= kMaxWindowBytes, "region.bytes", "is beyond any memory")
      .Require(offer.window.address <= UINT64_MAX - std::min(offer.window.bytes, kMaxWindowBytes),
               "region.address", "wraps around the end of memory");
  if (const auto* tcp = std::get_if<dataplane::TcpEndpoint>(&offer.endpoint)) {
    check.Text(tcp->address, kMaxRailAddressBytes, "tcp.address");
  }
  return check.status();
}

absl::Status CheckEndOfStream(const Known& known, const EndOfStream& end) {
  FieldCheck check(known.peer, "EndOfStream");
  check.Require(IsBlockCount(end.blocks, known.block_bytes), "blocks", "is beyond any stream")
      .Require(end.blocks >= known.arrived, "blocks",
               absl::StrCat("is ", end.blocks, ", and ", known.arrived, " have arrived"))
      .Require(known.total.value_or(end.blocks) == end.blocks, "blocks", "has changed")
      .Text(end.cause, kMaxNameBytes, "cause");
  return check.status();
}

absl::Status CheckProgress(const Known& known, const Progress& progress) {
  FieldCheck check(known.peer, "Progress");
  CheckCounts(check, known, progress);
  return check.status();
}

absl::Status CheckFinished(const Known& known, const Finished& finished) {
  FieldCheck check(known.peer, "Finished");
  const int code = finished.cause.raw_code();
  check.Require(code >= 0 && code <= 16, "code", "is not a google.rpc.Code")
      .Require(finished.cause.message().size() <= kMaxTextBytes, "message",
               "is longer than 16 KiB");
  if (const auto reason = ReasonOf(finished.cause); reason.has_value()) {
    check.Text(reason->reason, kMaxIdBytes, "reason")
        .Require(reason->metadata.size() <= kMaxMetadata, "metadata", "are more than 64");
    for (const auto& [key, value] : reason->metadata) {
      check.Text(key, kMaxIdBytes, "metadata")
          .Require(value.size() <= kMaxTextBytes, "metadata", "have one longer than 16 KiB");
    }
  }
  CheckCounts(check, known, finished.progress);
  return check.status();
}

absl::Status CheckMessage(const Known& known, const Message& message) {
  return std::visit(MessageCheck{known}, message);
}

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
