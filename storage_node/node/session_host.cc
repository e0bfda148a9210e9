#include "storage_node/node/session_host.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "storage_node/node/new_recording.h"
#include "storage_node/node/playback.h"
#include "storage_node/node/recordings.h"
#include "storage_node/node/session_ring.h"
#include "storage_node/segment_sink.h"
#include "storage_node/trigger_sink.h"

namespace tapedeck::storage_node {
namespace {

using services::session::Admission;
using services::session::Open;

// How many samples of a stream fall into a time, at least; no double is precise beyond 2^53.
uint64_t SamplesIn(int64_t ns, double sample_rate) {
  const double samples = static_cast<double>(ns) / 1e9 * sample_rate;
  return static_cast<uint64_t>(std::min(std::ceil(samples), 9.0e15));
}

Admission AdmissionOf(const NodeParts& parts, const RecordTarget& target,
                      dataplane::ladder::FittedRing fitted, std::shared_ptr<PieceCheck> arrivals) {
  return {.ring = std::move(fitted.ring),
          .accept = {.datatype = target.channel.datatype,
                     .sample_rate = target.channel.sample_rate,
                     .op = target.op,
                     .commit = target.channel.commit,
                     .block_bytes = target.channel.block_bytes},
          .verifier = [verifier = parts.verifier] { return verifier->value(); },
          .payload_crc = std::move(arrivals),
          .registration = std::move(fitted.registration)};
}

// The same for every recording of a session.
std::shared_ptr<PieceCheck> NewArrivals(const RecordTarget& target) {
  return std::make_shared<PieceCheck>(format::PieceBytesOf(target.channel.block_bytes));
}

absl::StatusOr<Admission> AdmitRecord(NodeParts& parts, const RecordTarget& target,
                                      dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(auto fitted,
                      MakeSessionRing(parts.settings, *target.lun, target.channel.block_bytes,
                                      /*playback=*/false, target.op));
  const auto arrivals = NewArrivals(target);
  TD_ASSIGN_OR_RETURN(ArmedRecording recording,
                      MakeRecording(parts, target, fitted.ring->slots(), arrivals, executor));
  Admission admission = AdmissionOf(parts, target, std::move(fitted), arrivals);
  admission.accept.recording = recording.name;
  admission.sink = std::move(recording.writer);
  return admission;
}

absl::StatusOr<TriggerWindow> WindowOf(const services::Channel& channel) {
  TD_ASSIGN_OR_RETURN(const auto datatype, dataplane::ParseDatatype(channel.datatype));
  return TriggerWindow{.before_samples = SamplesIn(channel.pre_trigger_ns, channel.sample_rate),
                       .after_samples = SamplesIn(channel.post_trigger_ns, channel.sample_rate),
                       .block_bytes = channel.block_bytes,
                       .sample_bytes = datatype.bytes_per_sample()};
}

absl::StatusOr<Admission> AdmitSegmented(NodeParts& parts, RecordTarget target,
                                         uint64_t segment_blocks, dataplane::Executor& executor) {
  if (target.lun->config.full_policy == services::FullPolicy::kStop &&
      target.open.expected_blocks > 0) {
    TD_ASSIGN_OR_RETURN(Reservation room, ReserveRoom(parts, target, target.open.expected_blocks));
    target.room = std::make_shared<Reservation>(std::move(room));
  }
  TD_ASSIGN_OR_RETURN(auto fitted,
                      MakeSessionRing(parts.settings, *target.lun, target.channel.block_bytes,
                                      /*playback=*/false, target.op));
  const auto arrivals = NewArrivals(target);
  SegmentOptions options{.segment_blocks = segment_blocks};
  TD_ASSIGN_OR_RETURN(options.keeper.window, WindowOf(target.channel));
  options.keeper.pin = [&parts](const std::string& recording,
                                bool writing) -> std::shared_ptr<const void> {
    if (writing) return parts.leases->TakeBeside(recording);
    std::shared_ptr<const void> lease = parts.leases->TakeShared(recording);
    return lease != nullptr && FindRecording(parts, recording).ok() ? lease : nullptr;
  };
  options.make = [&parts, target, slots = fitted.ring->slots(), arrivals,
                  &executor](uint64_t number) mutable -> absl::StatusOr<ArmedRecording> {
    target.segment = number;
    TD_ASSIGN_OR_RETURN(ArmedRecording made,
                        MakeRecording(parts, target, slots, arrivals, executor));
    if (number == 0) target.stream = made.name.substr(made.name.rfind('/') + 1);
    return made;
  };
  TD_ASSIGN_OR_RETURN(auto sink, SegmentSink::Create(std::move(options), executor));
  if (target.channel.triggered()) parts.triggers.Add(target.channel.name, sink->port());
  Admission admission = AdmissionOf(parts, target, std::move(fitted), arrivals);
  admission.accept.recording = sink->first_recording();
  admission.sink = std::move(sink);
  return admission;
}

absl::StatusOr<Admission> AdmitTriggered(NodeParts& parts, const RecordTarget& target,
                                         dataplane::Executor& executor) {
  const services::Channel& channel = target.channel;
  TriggerOptions options;
  TD_ASSIGN_OR_RETURN(options.window, WindowOf(channel));
  const TriggerWindow& window = options.window;
  options.hold_blocks = window.BlocksFor(window.before_samples);
  TD_ASSIGN_OR_RETURN(auto fitted,
                      MakeSessionRing(parts.settings, *target.lun, channel.block_bytes,
                                      /*playback=*/false, target.op, options.hold_blocks));
  const auto arrivals = NewArrivals(target);
  // How long the stream will be says nothing about its captures.
  RecordTarget capture = target;
  capture.open.expected_blocks = 0;
  if (target.lun->config.full_policy == services::FullPolicy::kRing) {
    capture.open.expected_blocks = window.BlocksFor(window.before_samples + window.after_samples);
  }
  options.arm = [&parts, capture = std::move(capture), slots = fitted.ring->slots(), arrivals,
                 &executor] { return MakeRecording(parts, capture, slots, arrivals, executor); };
  TD_ASSIGN_OR_RETURN(auto sink, TriggerSink::Create(std::move(options), executor));
  parts.triggers.Add(channel.name, sink->port());
  Admission admission = AdmissionOf(parts, target, std::move(fitted), arrivals);
  admission.sink = std::move(sink);
  return admission;
}

}  // namespace

absl::StatusOr<Admission> RecordingHost::Admit(const Open& open, dataplane::Executor& executor) {
  if (open.direction == services::session::Direction::kPlayback) {
    return AdmitPlayback(parts_, open, executor);
  }
  TD_ASSIGN_OR_RETURN(const RecordTarget target, FindTarget(parts_, open));
  if (target.channel.triggered() && target.channel.commit == dataplane::CommitLevel::kReceived) {
    return AdmitTriggered(parts_, target, executor);
  }
  const uint64_t segment_blocks = SegmentBlocks(target.channel, *target.lun);
  return segment_blocks > 0 ? AdmitSegmented(parts_, target, segment_blocks, executor)
                            : AdmitRecord(parts_, target, executor);
}

}  // namespace tapedeck::storage_node
