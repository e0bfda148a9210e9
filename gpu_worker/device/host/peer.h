// Host memory between processes of one machine.
#pragma once

#include "dataplane/memory/host/shared.h"
#include "gpu_worker/device/peer.h"

namespace tapedeck::gpu_worker::device::host {

class HostPeer final : public PeerAccess {
 public:
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewSharedMemory(size_t bytes) override {
    return dataplane::host::CreateShared(bytes);
  }
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> Open(
      const dataplane::MemoryShare& share) override {
    return dataplane::host::OpenShared(share);
  }
  bool Owns(const dataplane::MemoryWindow& window) override { return window.host_accessible; }
};

}  // namespace tapedeck::gpu_worker::device::host
