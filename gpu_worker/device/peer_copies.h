// The copies between processes of one machine that a worker's devices make: memory of a GPU by that
// GPU, host memory by the CPU.
#pragma once

#include <memory>
#include <vector>

#include "dataplane/memory/peer_copies.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::device {

// The devices outlive it.
class DevicePeerCopies final : public dataplane::PeerCopies {
 public:
  explicit DevicePeerCopies(std::vector<Device*> devices) : devices_(std::move(devices)) {}

  // By the device whose memory `local` is.
  absl::StatusOr<std::unique_ptr<dataplane::PeerPath>> Open(
      const dataplane::MemoryShare& share, const dataplane::MemoryWindow& local) override;
  // By the device whose memory one of the two is.
  absl::StatusOr<std::unique_ptr<dataplane::PeerPath>> Join(
      const dataplane::MemoryWindow& peer, const dataplane::MemoryWindow& local) override;

 private:
  // Null: none.
  Device* OwnerOf(const dataplane::MemoryWindow& window) const;

  const std::vector<Device*> devices_;
};

}  // namespace tapedeck::gpu_worker::device
