#include "gpu_worker/device/cuda/device.h"

namespace tapedeck::gpu_worker::device::cuda {

absl::StatusOr<std::unique_ptr<Device>> Create(int /*index*/) { return Count().status(); }

absl::StatusOr<int> Count() {
  return absl::FailedPreconditionError(
      "built without CUDA: build with nvcc and -DTAPEDECK_CUDA=ON, or use --device host");
}

}  // namespace tapedeck::gpu_worker::device::cuda
