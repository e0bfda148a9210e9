#include "gpu_worker/stages/detect/cuda/summer.h"

namespace tapedeck::gpu_worker::stages::detect::cuda {

absl::StatusOr<std::unique_ptr<Summer>> Create(const Band& /*band*/, device::Queue& /*queue*/) {
  return absl::FailedPreconditionError("detect: built without CUDA");
}

}  // namespace tapedeck::gpu_worker::stages::detect::cuda
