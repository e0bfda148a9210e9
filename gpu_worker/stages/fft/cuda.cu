#include "gpu_worker/stages/fft/cuda/kernel.h"

namespace tapedeck::gpu_worker::stages::fft::cuda {
namespace {

constexpr uint32_t kThreads = 256;

__global__ void WeighKernel(WindowView window, float2* samples, size_t count) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  const float weight = window.weights[i % window.points];
  const float2 sample = samples[i];
  samples[i] = make_float2(sample.x * weight, sample.y * weight);
}

}  // namespace

cudaError_t LaunchWeigh(WindowView window, float2* samples, size_t count, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  WeighKernel<<<blocks, kThreads, 0, stream>>>(window, samples, count);
  return cudaGetLastError();
}

}  // namespace tapedeck::gpu_worker::stages::fft::cuda
