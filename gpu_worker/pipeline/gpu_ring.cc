#include "gpu_worker/pipeline/gpu_ring.h"

#include <algorithm>

#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::pipeline {

using dataplane::ladder::Rung;

namespace {

// Blocks under way on a device. Fewer leave its copy engines idle while the work thread wakes up;
// more only lengthen the queue.
constexpr size_t kDepthBytes = size_t{16} << 20;
constexpr size_t kMinDepth = 4;
constexpr size_t kMaxDepth = 64;
// Of the blocks of a source or sink that are larger than the network's: one is filled or read while
// the device works on another.
constexpr size_t kMinStageDepth = 2;
constexpr size_t kPageBytes = 4096;
// Fewer runs would have the network wait for the last block of one, or the device.
constexpr size_t kMinRuns = 4;

size_t Depth(size_t slot_bytes, size_t least) {
  return std::clamp(kDepthBytes / slot_bytes, least, kMaxDepth);
}

// Memory for nvidia-peermem: the same without its dma-buf.
class WithoutDmaBuf final : public dataplane::Memory {
 public:
  explicit WithoutDmaBuf(std::unique_ptr<dataplane::Memory> memory) : memory_(std::move(memory)) {}
  dataplane::MemoryWindow window() const override {
    dataplane::MemoryWindow window = memory_->window();
    window.dma_buf_fd = -1;
    return window;
  }

 private:
  const std::unique_ptr<dataplane::Memory> memory_;
};

absl::StatusOr<std::unique_ptr<dataplane::Memory>> RingMemory(device::Device& device, Rung rung,
                                                              size_t rails, size_t bytes) {
  if (rung == Rung::kBounce) return device.NewHostMemory(bytes);
  if (rung == Rung::kPeerCopy) return device.peer()->NewSharedMemory(bytes);
  // All ports share a dma-buf's mapping; nvidia-peermem maps anew for each of them.
  const size_t mappings = rung == Rung::kDmaBuf ? 1 : rails;
  TD_RETURN_IF_ERROR(device.direct()->CheckRoom(bytes * mappings));
  TD_ASSIGN_OR_RETURN(auto memory, device.direct()->NewRingMemory(bytes));
  if (rung == Rung::kDmaBuf) return memory;
  return std::make_unique<WithoutDmaBuf>(std::move(memory));
}

}  // namespace

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(device::Device& device, Rung rung,
                                                              size_t rails, size_t slots,
                                                              size_t slot_bytes, size_t run) {
  TD_ASSIGN_OR_RETURN(auto memory, RingMemory(device, rung, rails, slots * slot_bytes));
  return dataplane::MemoryPool::Create(std::move(memory), slot_bytes,
                                       slots / run < kMinRuns ? 1 : run);
}

absl::StatusOr<std::unique_ptr<GpuRing>> GpuRing::Create(device::Device& device, bool direct,
                                                         size_t slot_bytes, size_t stage_bytes,
                                                         size_t at_once) {
  std::unique_ptr<GpuRing> ring(new GpuRing(direct, stage_bytes, at_once));
  if (stage_bytes > 0) TD_RETURN_IF_ERROR(ring->MakeStageSlots(device));
  if (device.info().works_in_host_memory) return ring;
  slot_bytes *= at_once;
  const size_t depth = Depth(slot_bytes, kMinDepth);
  const size_t bytes = depth * slot_bytes;
  TD_ASSIGN_OR_RETURN(auto memory,
                      direct ? device.NewHostMemory(bytes) : device.NewDeviceMemory(bytes));
  TD_ASSIGN_OR_RETURN(ring->slots_, dataplane::MemoryPool::Create(std::move(memory), slot_bytes));
  TD_ASSIGN_OR_RETURN(ring->crcs_, device.NewHostMemory(depth * at_once * sizeof(uint32_t)));
  return ring;
}

absl::Status GpuRing::MakeStageSlots(device::Device& device) {
  const size_t slot_bytes = (stage_bytes_ + kPageBytes - 1) / kPageBytes * kPageBytes;
  const size_t bytes = Depth(slot_bytes, kMinStageDepth) * slot_bytes;
  if (!device.info().works_in_host_memory) {
    TD_ASSIGN_OR_RETURN(stage_host_, device.NewHostMemory(bytes));
  }
  TD_ASSIGN_OR_RETURN(auto memory, device.NewDeviceMemory(bytes));
  TD_ASSIGN_OR_RETURN(stage_slots_, dataplane::MemoryPool::Create(std::move(memory), slot_bytes));
  return absl::OkStatus();
}

std::optional<GpuRing::Loan> GpuRing::Lend(std::span<std::byte> memory, size_t times) {
  std::optional<Loan> loan = LendNetwork(memory, times);
  if (!loan.has_value()) return std::nullopt;
  loan->stage = loan->network;
  if (stage_slots_ == nullptr) return loan;
  std::optional<dataplane::Block> slot = stage_slots_->Take();
  if (!slot.has_value()) return std::nullopt;
  loan->stage = {.host = slot->memory().first(stage_bytes_),
                 .device = slot->memory().first(stage_bytes_)};
  if (stage_host_ != nullptr) {
    loan->stage.host = stage_host_->window().bytes.subspan(
        slot->slot() * stage_slots_->slot_bytes(), stage_bytes_);
  }
  loan->stage_slot = *std::move(slot);
  return loan;
}

std::optional<GpuRing::Loan> GpuRing::LendNetwork(std::span<std::byte> memory, size_t times) {
  if (slots_ == nullptr) return Loan{.network = {.host = memory, .device = memory}};
  std::optional<dataplane::Block> slot = slots_->Take();
  if (!slot.has_value()) return std::nullopt;
  const std::span<std::byte> beside = slot->memory().first(memory.size() * times);
  const Sides network =
      direct_ ? Sides{.host = beside, .device = memory} : Sides{.host = memory, .device = beside};
  uint32_t* const crcs =
      reinterpret_cast<uint32_t*>(crcs_->window().bytes.data()) + slot->slot() * at_once_;
  return Loan{.network = network, .crcs = crcs, .slot = *std::move(slot)};
}

}  // namespace tapedeck::gpu_worker::pipeline
