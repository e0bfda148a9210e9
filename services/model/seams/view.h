// The seam between the view handlers and the storage node. Errors are those of
// tapedeck/v1/view.proto.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "services/model/view.h"

namespace tapedeck::services {

// Any thread. Each call waits for the disk.
class ViewControl {
 public:
  virtual ~ViewControl() = default;
  virtual absl::StatusOr<Timeline> GetTimeline(const std::string& recording) = 0;
  virtual absl::StatusOr<Spectrogram> ReadSpectrogram(const SpectrogramRequest& request) = 0;
  virtual absl::StatusOr<Samples> ReadSamples(const SamplesRequest& request) = 0;
  virtual absl::StatusOr<Envelope> ReadEnvelope(const EnvelopeRequest& request) = 0;
};

}  // namespace tapedeck::services
