#include "tests/gpu_worker/device/plain_cuda.h"

namespace tapedeck::gpu_worker {

absl::StatusOr<PlainRates> MeasurePlain(device::Device& /*device*/, size_t /*block_bytes*/,
                                        uint64_t /*blocks*/) {
  return absl::FailedPreconditionError("built without CUDA");
}

}  // namespace tapedeck::gpu_worker
