#include "gpu_worker/device_work.h"

#include <algorithm>

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/transform.h"

namespace tapedeck::gpu_worker {

absl::StatusOr<std::unique_ptr<DeviceWork>> DeviceWork::Create(device::Device& device,
                                                               size_t block_bytes,
                                                               uint32_t fft_points) {
  TD_ASSIGN_OR_RETURN(auto ring, GpuRing::Create(device, block_bytes));
  TD_ASSIGN_OR_RETURN(auto queue, device.NewQueue());
  std::unique_ptr<DeviceWork> work(new DeviceWork(std::move(ring), std::move(queue)));
  if (fft_points != 0) {
    TD_ASSIGN_OR_RETURN(
        auto fft, stages::fft::CreateTransform(fft_points, block_bytes, device, work->queue()));
    work->transforms_.push_back(std::move(fft));
  }
  return work;
}

absl::StatusOr<size_t> DeviceWork::Enqueue(const stages::Slot& slot, size_t payload_bytes,
                                           bool from_host, bool to_host) {
  size_t bytes = payload_bytes;
  for (const auto& transform : transforms_) {
    const size_t granule = transform->granule_bytes();
    bytes = (bytes + granule - 1) / granule * granule;
  }
  if (from_host) {
    std::ranges::fill(slot.host.subspan(payload_bytes, bytes - payload_bytes), std::byte{0});
    TD_RETURN_IF_ERROR(queue_->CopyToDevice(slot.device.data(), slot.host.data(), bytes));
  }
  for (const auto& transform : transforms_) {
    TD_RETURN_IF_ERROR(transform->Apply(slot.device.first(bytes)));
  }
  if (to_host) {
    TD_RETURN_IF_ERROR(queue_->CopyToHost(slot.host.data(), slot.device.data(), bytes));
  }
  return bytes;
}

}  // namespace tapedeck::gpu_worker
