// Looks into the recordings of a node.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/view.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::view {

// Any thread: each call opens the recording, and waits for its LUN's disks, for `limit` at most
// once it is open. Owned by the node.
class Viewer final : public services::ViewControl {
 public:
  explicit Viewer(recordings::Recordings& recordings, absl::Duration limit = absl::Seconds(10))
      : recordings_(recordings), limit_(limit) {}

  absl::StatusOr<services::Timeline> GetTimeline(const std::string& recording) override;
  absl::StatusOr<services::Spectrogram> ReadSpectrogram(
      const services::SpectrogramRequest& request) override;
  absl::StatusOr<services::Samples> ReadSamples(const services::SamplesRequest& request) override;
  absl::StatusOr<services::Envelope> ReadEnvelope(
      const services::EnvelopeRequest& request) override;

 private:
  recordings::Recordings& recordings_;
  const absl::Duration limit_;
};

}  // namespace tapedeck::storage_node::view
