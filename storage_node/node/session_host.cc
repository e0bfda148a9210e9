#include "storage_node/node/session_host.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "storage_node/node/new_recording.h"
#include "storage_node/node/playback.h"
#include "storage_node/node/session_ring.h"
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

absl::StatusOr<Admission> AdmitTriggered(NodeParts& parts, const RecordTarget& target,
                                         dataplane::Executor& executor) {
  const services::Channel& channel = target.channel;
  TD_ASSIGN_OR_RETURN(const auto datatype, dataplane::ParseDatatype(channel.datatype));
  TriggerOptions options{.before_samples = SamplesIn(channel.pre_trigger_ns, channel.sample_rate),
                         .after_samples = SamplesIn(channel.post_trigger_ns, channel.sample_rate),
                         .block_bytes = channel.block_bytes,
                         .sample_bytes = datatype.bytes_per_sample()};
  options.hold_blocks =
      BlocksToHold(options.before_samples, options.block_bytes, options.sample_bytes);
  TD_ASSIGN_OR_RETURN(auto fitted,
                      MakeSessionRing(parts.settings, *target.lun, channel.block_bytes,
                                      /*playback=*/false, target.op, options.hold_blocks));
  const auto arrivals = NewArrivals(target);
  // How long the stream will be says nothing about its captures.
  RecordTarget capture = target;
  capture.open.expected_blocks = 0;
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
  return target.channel.triggered() ? AdmitTriggered(parts_, target, executor)
                                    : AdmitRecord(parts_, target, executor);
}

}  // namespace tapedeck::storage_node
