#include "gpu_worker/device/unusable.h"
#include "gpu_worker/stages/synth/cuda/source.h"

namespace tapedeck::gpu_worker::stages::synth::cuda {

absl::StatusOr<std::unique_ptr<SourceStage>> CreateSource(const Waveform& /*waveform*/,
                                                          device::Device& device) {
  return device::Unusable(device.info().description, "synth: built without CUDA");
}

}  // namespace tapedeck::gpu_worker::stages::synth::cuda
