#include <cuda_runtime_api.h>

#include <cstring>

#include "dataplane/log.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/cufft/library.h"
#include "gpu_worker/stages/fft/fft.h"

namespace tapedeck::gpu_worker::stages::fft::cuda {
namespace {

// In memory of the device.
struct WindowView {
  const float* weights;
  uint32_t points;
};

constexpr uint32_t kThreads = 256;

__global__ void WeighKernel(WindowView window, float2* samples, size_t count) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  const float weight = window.weights[i % window.points];
  const float2 sample = samples[i];
  samples[i] = make_float2(sample.x * weight, sample.y * weight);
}

// Enqueues samples[i] *= weights[i % points] for i < count, which is below 2^32.
cudaError_t LaunchWeigh(WindowView window, float2* samples, size_t count, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  WeighKernel<<<blocks, kThreads, 0, stream>>>(window, samples, count);
  return cudaGetLastError();
}

class CudaFftWindow final : public FftWindow {
 public:
  CudaFftWindow(uint32_t points, device::Queue& queue,
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

class CufftFft final : public Fft {
 public:
  CufftFft(const cufft::Library& library, cufftHandle plan, int device, device::Queue& queue)
      : library_(library), plan_(plan), device_(device), queue_(queue) {}

  // On any thread, when the queue may be gone already. A plan's memory is its device's.
  ~CufftFft() override {
    static_cast<void>(cudaSetDevice(device_));
    const absl::Status status = cufft::ToStatus(library_.destroy(plan_), "cufftDestroy");
    if (!status.ok()) {
      dataplane::Log(dataplane::LogLevel::kError, "fft/cufft", status.ToString());
    }
  }

  // Runs the whole batch: what lies behind the end is not read again, and fewer come only where
  // there is time.
  absl::Status Forward(std::byte* data, size_t /*count*/) override {
    auto* samples = reinterpret_cast<cufftComplex*>(data);
    queue_.native();  // makes the device current
    return cufft::ToStatus(library_.exec_c2c(plan_, samples, samples, CUFFT_FORWARD),
                           "cufftExecC2C");
  }

 private:
  const cufft::Library library_;
  const cufftHandle plan_;
  const int device_;
  device::Queue& queue_;
};

}  // namespace

absl::Status Usable() { return cufft::Load().status(); }

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, device::Queue& queue) {
  TD_ASSIGN_OR_RETURN(const cufft::Library library, cufft::Load());
  auto stream = static_cast<cudaStream_t>(queue.native());
  int device = 0;
  TD_RETURN_IF_ERROR(cufft::ToStatus(cudaGetDevice(&device), "cudaGetDevice"));
  int points = static_cast<int>(plan.points);
  cufftHandle handle = 0;
  TD_RETURN_IF_ERROR(
      cufft::ToStatus(library.plan_many(&handle, 1, &points, nullptr, 1, points, nullptr, 1, points,
                                        CUFFT_C2C, static_cast<int>(plan.transforms)),
                      "cufftPlanMany"));
  auto fft = std::make_unique<CufftFft>(library, handle, device, queue);
  TD_RETURN_IF_ERROR(cufft::ToStatus(library.set_stream(handle, stream), "cufftSetStream"));
  return fft;
}

absl::StatusOr<std::unique_ptr<FftWindow>> CreateFftWindow(const std::vector<float>& weights,
                                                           device::Device& device,
                                                           device::Queue& queue) {
  const size_t bytes = weights.size() * sizeof(float);
  TD_ASSIGN_OR_RETURN(auto on_host, device.NewHostMemory(bytes));
  TD_ASSIGN_OR_RETURN(auto on_device, device.NewDeviceMemory(bytes));
  std::byte* const host = on_host->window().bytes.data();
  std::memcpy(host, weights.data(), bytes);
  TD_RETURN_IF_ERROR(queue.CopyToDevice(on_device->window().bytes.data(), host, bytes));
  return std::make_unique<CudaFftWindow>(static_cast<uint32_t>(weights.size()), queue,
                                         std::move(on_host), std::move(on_device));
}

}  // namespace tapedeck::gpu_worker::stages::fft::cuda
