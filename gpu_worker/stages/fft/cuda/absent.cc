#include "gpu_worker/device/unusable.h"
#include "gpu_worker/stages/fft/cuda/weigher.h"

namespace tapedeck::gpu_worker::stages::fft::cuda {

absl::StatusOr<std::unique_ptr<Weigher>> CreateWeigher(const std::vector<float>& /*weights*/,
                                                       device::Device& device,
                                                       device::Queue& /*queue*/) {
  return device::Unusable(device.info().description, "fft: built without CUDA");
}

}  // namespace tapedeck::gpu_worker::stages::fft::cuda
