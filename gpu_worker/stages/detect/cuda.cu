#include <cuda_runtime_api.h>

#include "dataplane/memory/cuda/status.h"
#include "gpu_worker/stages/detect/transform.h"

namespace tapedeck::gpu_worker::stages::detect::cuda {
namespace {

constexpr uint32_t kThreads = 256;  // a power of two
constexpr uint32_t kWarp = 32;

// A block of threads per transform.
__global__ void SumKernel(Band band, const float2* spectra, float* powers) {
  const float2* spectrum = spectra + size_t{blockIdx.x} * band.points;
  double sum = 0;
  for (uint32_t bin = threadIdx.x; bin < band.bins; bin += kThreads) {
    const float2 x = spectrum[band.Bin(bin)];
    sum += static_cast<double>(x.x) * x.x + static_cast<double>(x.y) * x.y;
  }
  for (uint32_t lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    sum += __shfl_down_sync(~0u, sum, lanes);
  }
  __shared__ double warps[kThreads / kWarp];
  if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double total = 0;
  for (const double warp : warps) total += warp;
  powers[blockIdx.x] = static_cast<float>(total * band.scale);
}

// Enqueues the powers of the first `count` transforms of `spectra`, below 2^31; both are in memory
// of the device.
cudaError_t LaunchSum(const Band& band, const float2* spectra, size_t count, float* powers,
                      cudaStream_t stream) {
  SumKernel<<<static_cast<unsigned>(count), kThreads, 0, stream>>>(band, spectra, powers);
  return cudaGetLastError();
}

class CudaBandPower final : public BandPower {
 public:
  CudaBandPower(const Band& band, device::Queue& queue) : band_(band), queue_(queue) {}

  absl::Status Copy(std::byte* to, const std::byte* samples, size_t bytes) override {
    return dataplane::cuda::ToStatus(
        cudaMemcpyAsync(to, samples, bytes, cudaMemcpyDeviceToDevice, stream()),
        "copy of the samples to be looked at");
  }

  absl::Status Sum(const std::byte* spectra, size_t count, float* powers) override {
    return dataplane::cuda::ToStatus(
        LaunchSum(band_, reinterpret_cast<const float2*>(spectra), count, powers, stream()),
        "launch of the kernel that adds up a band");
  }

 private:
  cudaStream_t stream() { return static_cast<cudaStream_t>(queue_.native()); }

  const Band band_;
  device::Queue& queue_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BandPower>> Create(const Band& band, device::Queue& queue) {
  return std::make_unique<CudaBandPower>(band, queue);
}

}  // namespace tapedeck::gpu_worker::stages::detect::cuda
