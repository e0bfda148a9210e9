#include "gpu_worker/gpu_ring.h"

#include <algorithm>

#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker {
namespace {

// Blocks under way on a device. Fewer leave its copy engines idle while the work thread wakes up;
// more only lengthen the queue.
constexpr size_t kDepthBytes = size_t{16} << 20;
constexpr size_t kMinDepth = 4;
constexpr size_t kMaxDepth = 64;

}  // namespace

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(device::Device& device, size_t slots,
                                                              size_t slot_bytes) {
  TD_ASSIGN_OR_RETURN(auto memory, device.NewHostMemory(slots * slot_bytes));
  return dataplane::MemoryPool::Create(std::move(memory), slot_bytes);
}

absl::StatusOr<std::unique_ptr<GpuRing>> GpuRing::Create(device::Device& device,
                                                         size_t slot_bytes) {
  if (device.info().works_in_host_memory) return std::unique_ptr<GpuRing>(new GpuRing(nullptr));
  const size_t depth = std::clamp(kDepthBytes / slot_bytes, kMinDepth, kMaxDepth);
  TD_ASSIGN_OR_RETURN(auto memory, device.NewDeviceMemory(depth * slot_bytes));
  TD_ASSIGN_OR_RETURN(auto pool, dataplane::MemoryPool::Create(std::move(memory), slot_bytes));
  return std::unique_ptr<GpuRing>(new GpuRing(std::move(pool)));
}

std::optional<GpuRing::Loan> GpuRing::Lend(std::span<std::byte> host) {
  if (pool_ == nullptr) return Loan{.bytes = host, .slot = {}};
  std::optional<dataplane::Block> slot = pool_->Take();
  if (!slot.has_value()) return std::nullopt;
  const std::span<std::byte> bytes = slot->memory().first(host.size());
  return Loan{.bytes = bytes, .slot = *std::move(slot)};
}

}  // namespace tapedeck::gpu_worker
