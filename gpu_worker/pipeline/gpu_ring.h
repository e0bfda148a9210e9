// Where blocks are for the network, and where the device works on them. A job's ring lies in host
// memory, and the device works in slots beside it (the bounce), or in memory of the device, and
// slots of host memory beside it serve stages that need the CPU. A device that works in host memory
// uses the network's slots themselves.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/block.h"
#include "dataplane/ladder/rung.h"
#include "dataplane/memory/memory_pool.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::pipeline {

// The ring a session registers and its blocks travel in, as `rung` demands: kBounce gives host
// memory, pinned where the device copies from it. Direct ones are checked against the room that
// `rails` registrations need: RESOURCE_EXHAUSTED.
absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(device::Device& device,
                                                              dataplane::ladder::Rung rung,
                                                              size_t rails, size_t slots,
                                                              size_t slot_bytes);

// The slots beside a job's ring. Owned by a pipeline, used by its work thread.
class GpuRing {
 public:
  // Both sides of a block until the loan is destroyed.
  struct Loan {
    std::span<std::byte> host;
    std::span<std::byte> device;  // the same where the device works in host memory
    uint32_t* crc = nullptr;      // the device leaves the block's CRC here; null if the CPU can
    dataplane::Block slot;        // empty where no second side is needed
  };

  // `direct`: the job's ring lies in memory of the device.
  static absl::StatusOr<std::unique_ptr<GpuRing>> Create(device::Device& device, bool direct,
                                                         size_t slot_bytes);

  // For the block in `memory`, a part of the job's ring; none while every slot is in use.
  std::optional<Loan> Lend(std::span<std::byte> memory);

 private:
  explicit GpuRing(bool direct) : direct_(direct) {}

  const bool direct_;
  std::shared_ptr<dataplane::MemoryPool> slots_;  // null where the device works in host memory
  std::unique_ptr<dataplane::Memory> crcs_;       // by slot; null unless direct
};

}  // namespace tapedeck::gpu_worker::pipeline
