#include "gpu_worker/stages/power/cuda/kernel.h"

namespace tapedeck::gpu_worker::stages::power::cuda {
namespace {

constexpr uint32_t kThreads = 256;

// One thread per bin: neighbours read neighbours.
__global__ void PowerKernel(Shape shape, const float2* samples, float* bins, size_t count) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  const uint32_t average = i / shape.points;
  const float2* sample = samples + average * shape.granule_samples() + i % shape.points;
  double sum = 0;
  for (uint32_t t = 0; t < shape.average; ++t, sample += shape.points) {
    sum += Power(sample->x, sample->y);
  }
  bins[i] = static_cast<float>(sum / shape.average);
}

}  // namespace

cudaError_t LaunchPower(const Shape& shape, const float2* samples, float* bins, size_t count,
                        cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  PowerKernel<<<blocks, kThreads, 0, stream>>>(shape, samples, bins, count);
  return cudaGetLastError();
}

}  // namespace tapedeck::gpu_worker::stages::power::cuda
