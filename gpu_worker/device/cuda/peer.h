// A GPU's memory between processes of one machine.
#pragma once

#include "gpu_worker/device/health.h"
#include "gpu_worker/device/peer.h"

namespace tapedeck::gpu_worker::device::cuda {

class CudaPeer final : public PeerAccess {
 public:
  // `health` outlives it.
  CudaPeer(int device, Health& health) : device_(device), health_(health) {}

  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewSharedMemory(size_t bytes) override;
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> Open(
      const dataplane::MemoryShare& share) override;
  bool Owns(const dataplane::MemoryWindow& window) override;

 private:
  const int device_;
  Health& health_;
};

}  // namespace tapedeck::gpu_worker::device::cuda
