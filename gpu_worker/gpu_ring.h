// The slots in which a device works on blocks. On a GPU they are a ring of device memory beside the
// host ring that the network uses (the bounce); a device that works in host memory uses the
// network's slots themselves.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/block.h"
#include "dataplane/memory/memory_pool.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker {

// The ring a session registers and its blocks travel in: pinned where the device copies from it.
absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(device::Device& device, size_t slots,
                                                              size_t slot_bytes);

// Owned by a pipeline, used by its work thread.
class GpuRing {
 public:
  // A place to work until the loan is destroyed.
  struct Loan {
    std::span<std::byte> bytes;
    dataplane::Block slot;  // empty where `bytes` is the host slot
  };

  static absl::StatusOr<std::unique_ptr<GpuRing>> Create(device::Device& device, size_t slot_bytes);

  // For the block in `host`; none while every slot is in use.
  std::optional<Loan> Lend(std::span<std::byte> host);

 private:
  explicit GpuRing(std::shared_ptr<dataplane::MemoryPool> pool) : pool_(std::move(pool)) {}

  const std::shared_ptr<dataplane::MemoryPool> pool_;  // null where the device works in host memory
};

}  // namespace tapedeck::gpu_worker
