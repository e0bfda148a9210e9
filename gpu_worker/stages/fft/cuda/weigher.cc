#include "gpu_worker/stages/fft/cuda/weigher.h"

#include <cstring>

#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/cuda/kernel.h"

namespace tapedeck::gpu_worker::stages::fft::cuda {
namespace {

class CudaWeigher final : public Weigher {
 public:
  CudaWeigher(uint32_t points, device::Queue& queue,
              std::unique_ptr<dataplane::Memory> weights_on_host,
              std::unique_ptr<dataplane::Memory> weights)
      : points_(points),
        queue_(queue),
        weights_on_host_(std::move(weights_on_host)),
        weights_(std::move(weights)) {}

  absl::Status Multiply(std::byte* data, size_t count) override {
    const auto* weights = reinterpret_cast<const float*>(weights_->window().bytes.data());
    auto stream = static_cast<cudaStream_t>(queue_.native());
    return dataplane::cuda::ToStatus(
        LaunchWeigh({.weights = weights, .points = points_}, reinterpret_cast<float2*>(data),
                    count * points_, stream),
        "launch of the window kernel");
  }

 private:
  const uint32_t points_;
  device::Queue& queue_;
  const std::unique_ptr<dataplane::Memory> weights_on_host_;  // the copy may still be under way
  const std::unique_ptr<dataplane::Memory> weights_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Weigher>> CreateWeigher(const std::vector<float>& weights,
                                                       device::Device& device,
                                                       device::Queue& queue) {
  const size_t bytes = weights.size() * sizeof(float);
  TD_ASSIGN_OR_RETURN(auto on_host, device.NewHostMemory(bytes));
  TD_ASSIGN_OR_RETURN(auto on_device, device.NewDeviceMemory(bytes));
  std::byte* const host = on_host->window().bytes.data();
  std::memcpy(host, weights.data(), bytes);
  TD_RETURN_IF_ERROR(queue.CopyToDevice(on_device->window().bytes.data(), host, bytes));
  return std::make_unique<CudaWeigher>(static_cast<uint32_t>(weights.size()), queue,
                                       std::move(on_host), std::move(on_device));
}

}  // namespace tapedeck::gpu_worker::stages::fft::cuda
