// What a storage node's recordings look like, from afar and in plain values. Errors are those of
// the node, or name it (NODE_UNREACHABLE).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/view.h"
#include "services/rpc/client/calls/service_client.h"

namespace tapedeck::services::client {

// Any thread. Each call blocks, at most for `time`.
class ViewClient final : public ViewControl, public ServiceClient {
 public:
  ViewClient(const client::Channel& channel, const CallTime& time)
      : ServiceClient(channel, time, "tapedeck.v1.ViewService") {}

  absl::StatusOr<Timeline> GetTimeline(const std::string& recording) override;
  absl::StatusOr<Spectrogram> ReadSpectrogram(const SpectrogramRequest& request) override;
  absl::StatusOr<Samples> ReadSamples(const SamplesRequest& request) override;
  absl::StatusOr<Envelope> ReadEnvelope(const EnvelopeRequest& request) override;
};

}  // namespace tapedeck::services::client
