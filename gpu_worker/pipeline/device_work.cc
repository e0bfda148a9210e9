#include "gpu_worker/pipeline/device_work.h"

#include <algorithm>
#include <numeric>

#include "dataplane/crc32c.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::pipeline {

absl::StatusOr<std::unique_ptr<DeviceWork>> DeviceWork::Create(device::Device& device,
                                                               const DeviceWorkSettings& settings) {
  const size_t block_bytes = settings.block_bytes;
  TD_ASSIGN_OR_RETURN(auto ring, GpuRing::Create(device, settings.direct, block_bytes));
  TD_ASSIGN_OR_RETURN(auto queue, device.NewQueue());
  const bool beside = !device.info().works_in_host_memory;
  std::unique_ptr<DeviceWork> work(
      new DeviceWork(settings.direct, beside, std::move(ring), std::move(queue)));
  const stages::TransformPlace place{
      .device = &device, .queue = &work->queue(), .block_bytes = block_bytes};
  for (const stages::ChosenTransform& transform : settings.transforms) {
    TD_ASSIGN_OR_RETURN(auto made, transform.create(place));
    work->granule_bytes_ = std::lcm(work->granule_bytes_, made->granule_bytes());
    work->transforms_.push_back(std::move(made));
  }
  return work;
}

absl::StatusOr<size_t> DeviceWork::Enqueue(const stages::Slot& slot, size_t payload_bytes,
                                           bool from_host, bool to_host) {
  const size_t bytes = (payload_bytes + granule_bytes_ - 1) / granule_bytes_ * granule_bytes_;
  // The zeros come from the host, wherever the payload is.
  std::ranges::fill(slot.host.subspan(payload_bytes, bytes - payload_bytes), std::byte{0});
  const size_t first = from_host ? 0 : payload_bytes;
  if (first < bytes) {
    TD_RETURN_IF_ERROR(
        queue_->CopyToDevice(slot.device.data() + first, slot.host.data() + first, bytes - first));
    meter_.Mark(*queue_, Part::kCopy);
  }
  for (const auto& transform : transforms_) {
    TD_RETURN_IF_ERROR(transform->Apply(slot.device.first(bytes)));
  }
  if (!transforms_.empty()) meter_.Mark(*queue_, Part::kGpu);
  if (to_host) {
    TD_RETURN_IF_ERROR(queue_->CopyToHost(slot.host.data(), slot.device.data(), bytes));
    meter_.Mark(*queue_, Part::kCopy);
  }
  return bytes;
}

absl::Status DeviceWork::EnqueueCrc(const GpuRing::Loan& loan, size_t payload_bytes) {
  if (loan.crc == nullptr) return absl::OkStatus();
  TD_RETURN_IF_ERROR(queue_->Crc32c(loan.crc, loan.device.first(payload_bytes)));
  meter_.Mark(*queue_, Part::kCrc);
  return absl::OkStatus();
}

uint32_t DeviceWork::CrcOf(const GpuRing::Loan& loan, size_t payload_bytes) {
  return loan.crc != nullptr ? *loan.crc : dataplane::Crc32c(loan.host.first(payload_bytes));
}

}  // namespace tapedeck::gpu_worker::pipeline
