// What a device offers whose memory other processes of the machine can open.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/memory/memory.h"

namespace tapedeck::gpu_worker::device {

// Any thread that may wait. Owned by its device.
class PeerAccess {
 public:
  virtual ~PeerAccess() = default;

  // Memory in which the device works, whose window has a share. The driver's words where it exports
  // none; RESOURCE_EXHAUSTED.
  virtual absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewSharedMemory(size_t bytes) = 0;

  // Memory of a peer, for this device's queues. The errors of host::OpenShared, cuda::OpenShared.
  virtual absl::StatusOr<std::unique_ptr<dataplane::Memory>> Open(
      const dataplane::MemoryShare& share) = 0;

  // Whether this memory is the device's own.
  virtual bool Owns(const dataplane::MemoryWindow& window) = 0;
};

}  // namespace tapedeck::gpu_worker::device
