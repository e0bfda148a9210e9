// Where blocks are for the network, and where the device works on them. A job's ring lies in host
// memory, and the device works in slots beside it (the bounce), or in memory of the device, and
// slots of host memory beside it serve stages that need the CPU. A device that works in host memory
// uses the network's slots themselves. Where transforms do not work in place, the source or sink
// has slots of its own, as large as its blocks.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "dataplane/ladder/rung.h"
#include "dataplane/memory/memory_pool.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::pipeline {

// The ring a session registers and its blocks travel in, as `rung` demands: kBounce gives host
// memory, pinned where the device copies from it; kPeerCopy memory that other processes can open,
// of a device that has it (device/peer.h). Those for ports are checked against the room that
// `rails` registrations need: RESOURCE_EXHAUSTED. Slots are lent in runs of `run`, or of one where
// that would be few runs.
absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(device::Device& device,
                                                              dataplane::ladder::Rung rung,
                                                              size_t rails, size_t slots,
                                                              size_t slot_bytes, size_t run = 1);

// The slots beside a job's ring. Owned by a pipeline, used by its work thread.
class GpuRing {
 public:
  // A block for the CPU and for the device: the same where the device works in host memory.
  struct Sides {
    std::span<std::byte> host;
    std::span<std::byte> device;
  };
  // A block, or several that lie side by side, until the loan is destroyed.
  struct Loan {
    Sides network;
    Sides stage;  // the source's or the sink's; the network's where transforms are in place
    uint32_t* crcs = nullptr;     // the device leaves each block's CRC here; null if it is the CPU
    dataplane::Block slot;        // empty where the network's sides are one
    dataplane::Block stage_slot;  // empty where the stage has the network's
  };

  // `direct`: the job's ring lies in memory of the device. `stage_bytes` 0: transforms are in
  // place. Each slot takes `at_once` blocks.
  static absl::StatusOr<std::unique_ptr<GpuRing>> Create(device::Device& device, bool direct,
                                                         size_t slot_bytes, size_t stage_bytes = 0,
                                                         size_t at_once = 1);

  // For the blocks in `memory`, a part of the job's ring; none while every slot is in use. Beside
  // it is room for `times` as much: blocks that lie apart in the ring are together there.
  std::optional<Loan> Lend(std::span<std::byte> memory, size_t times = 1);

 private:
  GpuRing(bool direct, size_t stage_bytes, size_t at_once)
      : direct_(direct), stage_bytes_(stage_bytes), at_once_(at_once) {}

  absl::Status MakeStageSlots(device::Device& device);
  std::optional<Loan> LendNetwork(std::span<std::byte> memory, size_t times);

  const bool direct_;
  const size_t stage_bytes_;
  const size_t at_once_;
  std::shared_ptr<dataplane::MemoryPool> slots_;  // null where the device works in host memory
  std::unique_ptr<dataplane::Memory> crcs_;       // by slot; null where `slots_` is
  std::shared_ptr<dataplane::MemoryPool> stage_slots_;  // for the device; null in place
  std::unique_ptr<dataplane::Memory> stage_host_;  // by slot; null where the device works there too
};

}  // namespace tapedeck::gpu_worker::pipeline
