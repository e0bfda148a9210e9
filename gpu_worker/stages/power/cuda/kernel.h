// The launch of the power kernel; free of Abseil, which device code does not compile.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "gpu_worker/stages/power/shape.h"

namespace tapedeck::gpu_worker::stages::power::cuda {

// Enqueues the first `count` bins, below 2^32, of the averages of `samples`; both are in memory of
// the device and do not overlap.
cudaError_t LaunchPower(const Shape& shape, const float2* samples, float* bins, size_t count,
                        cudaStream_t stream);

}  // namespace tapedeck::gpu_worker::stages::power::cuda
