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
                                                              size_t slot_bytes) {
  TD_ASSIGN_OR_RETURN(auto memory, RingMemory(device, rung, rails, slots * slot_bytes));
  return dataplane::MemoryPool::Create(std::move(memory), slot_bytes);
}

absl::StatusOr<std::unique_ptr<GpuRing>> GpuRing::Create(device::Device& device, bool direct,
                                                         size_t slot_bytes) {
  std::unique_ptr<GpuRing> ring(new GpuRing(direct));
  if (device.info().works_in_host_memory) return ring;
  const size_t depth = std::clamp(kDepthBytes / slot_bytes, kMinDepth, kMaxDepth);
  const size_t bytes = depth * slot_bytes;
  TD_ASSIGN_OR_RETURN(auto memory,
                      direct ? device.NewHostMemory(bytes) : device.NewDeviceMemory(bytes));
  TD_ASSIGN_OR_RETURN(ring->slots_, dataplane::MemoryPool::Create(std::move(memory), slot_bytes));
  if (direct) {
    TD_ASSIGN_OR_RETURN(ring->crcs_, device.NewHostMemory(depth * sizeof(uint32_t)));
  }
  return ring;
}

std::optional<GpuRing::Loan> GpuRing::Lend(std::span<std::byte> memory) {
  if (slots_ == nullptr) return Loan{.host = memory, .device = memory};
  std::optional<dataplane::Block> slot = slots_->Take();
  if (!slot.has_value()) return std::nullopt;
  const std::span<std::byte> beside = slot->memory().first(memory.size());
  if (!direct_) return Loan{.host = memory, .device = beside, .slot = *std::move(slot)};
  uint32_t* const crc = reinterpret_cast<uint32_t*>(crcs_->window().bytes.data()) + slot->slot();
  return Loan{.host = beside, .device = memory, .crc = crc, .slot = *std::move(slot)};
}

}  // namespace tapedeck::gpu_worker::pipeline
