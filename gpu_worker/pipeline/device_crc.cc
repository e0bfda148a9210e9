#include "gpu_worker/pipeline/device_crc.h"

#include <utility>

#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::pipeline {

absl::StatusOr<std::unique_ptr<DeviceCrc>> DeviceCrc::Create(device::Device& device) {
  TD_ASSIGN_OR_RETURN(auto crcs, device.NewHostMemory(kMaxUnderWay * sizeof(uint32_t)));
  TD_ASSIGN_OR_RETURN(auto queue, device.NewQueue());
  return std::unique_ptr<DeviceCrc>(
      new DeviceCrc(*device.direct(), std::move(crcs), std::move(queue)));
}

void DeviceCrc::Compute(std::span<const std::byte> payload, Done done) {
  uint32_t* const crc =
      reinterpret_cast<uint32_t*>(crcs_->window().bytes.data()) + next_++ % kMaxUnderWay;
  absl::Status enqueued = direct_.MakeVisible();
  if (enqueued.ok()) enqueued = queue_->Crc32c(crc, payload);
  queue_->Then([crc, enqueued, done = std::move(done)](absl::Status status) {
    status.Update(enqueued);
    done(status.ok() ? absl::StatusOr<uint32_t>(*crc) : status);
  });
}

}  // namespace tapedeck::gpu_worker::pipeline
