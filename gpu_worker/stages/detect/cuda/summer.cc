#include "gpu_worker/stages/detect/cuda/summer.h"

#include "dataplane/memory/cuda/status.h"
#include "gpu_worker/stages/detect/cuda/kernel.h"

namespace tapedeck::gpu_worker::stages::detect::cuda {
namespace {

class CudaSummer final : public Summer {
 public:
  CudaSummer(const Band& band, device::Queue& queue) : band_(band), queue_(queue) {}

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

absl::StatusOr<std::unique_ptr<Summer>> Create(const Band& band, device::Queue& queue) {
  return std::make_unique<CudaSummer>(band, queue);
}

}  // namespace tapedeck::gpu_worker::stages::detect::cuda
