// The launch of the kernel that adds up a band; free of Abseil, which device code does not compile.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "gpu_worker/stages/detect/band.h"

namespace tapedeck::gpu_worker::stages::detect::cuda {

// Enqueues the powers of the first `count` transforms of `spectra`, below 2^31; both are in memory
// of the device.
cudaError_t LaunchSum(const Band& band, const float2* spectra, size_t count, float* powers,
                      cudaStream_t stream);

}  // namespace tapedeck::gpu_worker::stages::detect::cuda
