#include "gpu_worker/stages/power/cuda/transform.h"

namespace tapedeck::gpu_worker::stages::power::cuda {

absl::StatusOr<std::unique_ptr<Transform>> Create(const Shape& /*shape*/,
                                                  device::Queue& /*queue*/) {
  return absl::FailedPreconditionError("power: built without CUDA");
}

}  // namespace tapedeck::gpu_worker::stages::power::cuda
