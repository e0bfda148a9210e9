// What a device offers whose memory network ports can reach themselves, without a copy through host
// memory.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/memory/memory.h"

namespace tapedeck::gpu_worker::device {

// Any thread. Owned by its device.
class DirectAccess {
 public:
  virtual ~DirectAccess() = default;

  // Memory of the device for a ring, exported as a dma-buf where the driver can; else without one,
  // and the log says why. RESOURCE_EXHAUSTED; UNIMPLEMENTED if no port can reach this device.
  virtual absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewRingMemory(size_t bytes) = 0;

  // Whether this much more can be mapped for ports; RESOURCE_EXHAUSTED if not. To be asked before
  // anything is registered: running out can lock up the machine.
  virtual absl::Status CheckRoom(size_t bytes) = 0;

  // OK if MakeVisible works; else why the device may miss what ports write to its memory.
  virtual absl::Status visibility() const = 0;

  // Work that is enqueued from now on sees what ports have written so far. May take microseconds.
  virtual absl::Status MakeVisible() = 0;
};

}  // namespace tapedeck::gpu_worker::device
