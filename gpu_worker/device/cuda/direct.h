// A CUDA device's memory as network ports reach it: GPUDirect RDMA.
#pragma once

#include <memory>

#include "dataplane/memory/cuda/bar1.h"
#include "dataplane/memory/cuda/visibility.h"
#include "gpu_worker/device/direct.h"
#include "gpu_worker/device/health.h"

namespace tapedeck::gpu_worker::device::cuda {

// Any thread.
class CudaDirect final : public DirectAccess {
 public:
  // `health` outlives it.
  static absl::StatusOr<std::unique_ptr<DirectAccess>> Create(int device, Health& health);

  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewRingMemory(size_t bytes) override;
  absl::Status CheckRoom(size_t bytes) override;
  absl::Status visibility() const override;
  absl::Status MakeVisible() override;

 private:
  CudaDirect(int device, Health& health, const dataplane::cuda::DirectAttributes& attributes,
             std::unique_ptr<dataplane::cuda::Bar1Reader> bar1);

  const int device_;
  Health& health_;
  const bool supported_;
  const dataplane::cuda::WriteVisibility visibility_;
  const std::unique_ptr<dataplane::cuda::Bar1Reader> bar1_;  // null: unknown
};

}  // namespace tapedeck::gpu_worker::device::cuda
