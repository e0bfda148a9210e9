// The launch of the window kernel; free of Abseil, which device code does not compile.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace tapedeck::gpu_worker::stages::fft::cuda {

// In memory of the device.
struct WindowView {
  const float* weights;
  uint32_t points;
};

// Enqueues samples[i] *= weights[i % points] for i < count, which is below 2^32.
cudaError_t LaunchWeigh(WindowView window, float2* samples, size_t count, cudaStream_t stream);

}  // namespace tapedeck::gpu_worker::stages::fft::cuda
