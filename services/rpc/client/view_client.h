// What a storage node's recordings look like, from afar and in plain values. Errors are those of
// the node, or name it (NODE_UNREACHABLE).
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/view.h"
#include "services/rpc/client/calls/call_limits.h"
#include "services/rpc/client/calls/channel.h"

namespace tapedeck::services::client {

// Any thread. Each call blocks, at most for `time`.
class ViewClient final : public ViewControl {
 public:
  ViewClient(const client::Channel& channel, const CallTime& time);
  ~ViewClient() override;

  // Ends the calls under way and all to come: CANCELLED.
  void Cancel() { gate_.Close(); }

  absl::StatusOr<Timeline> GetTimeline(const std::string& recording) override;
  absl::StatusOr<Spectrogram> ReadSpectrogram(const SpectrogramRequest& request) override;
  absl::StatusOr<Samples> ReadSamples(const SamplesRequest& request) override;
  absl::StatusOr<Envelope> ReadEnvelope(const EnvelopeRequest& request) override;

 private:
  struct Stub;

  const client::Channel node_;
  const CallTime time_;
  CallGate gate_;
  const std::unique_ptr<Stub> stub_;
};

}  // namespace tapedeck::services::client
