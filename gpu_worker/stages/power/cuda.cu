#include <cuda_runtime_api.h>

#include "dataplane/memory/cuda/status.h"
#include "gpu_worker/stages/power/transform.h"

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

// Enqueues the first `count` bins, below 2^32, of the averages of `samples`; both are in memory of
// the device and do not overlap.
cudaError_t LaunchPower(const Shape& shape, const float2* samples, float* bins, size_t count,
                        cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  PowerKernel<<<blocks, kThreads, 0, stream>>>(shape, samples, bins, count);
  return cudaGetLastError();
}

class CudaPower final : public Transform {
 public:
  CudaPower(const Shape& shape, device::Queue& queue) : shape_(shape), queue_(queue) {}

  size_t granule_bytes() const override { return shape_.granule_bytes(); }

  absl::Status Apply(std::span<std::byte> in, std::span<std::byte> out) override {
    return dataplane::cuda::ToStatus(
        LaunchPower(shape_, reinterpret_cast<const float2*>(in.data()),
                    reinterpret_cast<float*>(out.data()), out.size() / sizeof(float),
                    static_cast<cudaStream_t>(queue_.native())),
        "launch of the power kernel");
  }

 private:
  const Shape shape_;
  device::Queue& queue_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transform>> Create(const Shape& shape, device::Queue& queue) {
  return std::make_unique<CudaPower>(shape, queue);
}

}  // namespace tapedeck::gpu_worker::stages::power::cuda
