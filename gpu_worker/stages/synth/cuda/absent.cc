#include "gpu_worker/stages/synth/cuda/source.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::synth::cuda {

absl::StatusOr<std::unique_ptr<SourceStage>> CreateSource(const Waveform& /*waveform*/,
                                                          device::Device& device) {
  return services::WithReason(absl::FailedPreconditionError("synth: built without CUDA"),
                              "DEVICE_UNUSABLE", {{"device", device.info().description}});
}

}  // namespace tapedeck::gpu_worker::stages::synth::cuda
