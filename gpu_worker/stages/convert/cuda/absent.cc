#include "gpu_worker/stages/convert/cuda/transform.h"

namespace tapedeck::gpu_worker::stages::convert::cuda {

absl::StatusOr<std::unique_ptr<Transform>> Create(const dataplane::Datatype& /*from*/,
                                                  const dataplane::Datatype& /*to*/,
                                                  device::Queue& /*queue*/) {
  return absl::FailedPreconditionError("convert: built without CUDA");
}

}  // namespace tapedeck::gpu_worker::stages::convert::cuda
