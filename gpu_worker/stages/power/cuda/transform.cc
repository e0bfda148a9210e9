#include "gpu_worker/stages/power/cuda/transform.h"

#include "dataplane/memory/cuda/status.h"
#include "gpu_worker/stages/power/cuda/kernel.h"

namespace tapedeck::gpu_worker::stages::power::cuda {
namespace {

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
