// What a pipeline does on its device: the slots it works in, the transforms and the queue they are
// enqueued on.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/pipeline/gpu_ring.h"
#include "gpu_worker/pipeline/stage_meter.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::pipeline {

struct DeviceWorkSettings {
  size_t block_bytes = 0;
  std::span<const stages::ChosenTransform> transforms = {};  // of this order; for Create alone
  bool direct = false;  // the job's ring lies in memory of the device
};

// Owned by a pipeline, used by its work thread. Destroying it waits for the device.
class DeviceWork {
 public:
  // Errors are those of the transforms and of the device.
  static absl::StatusOr<std::unique_ptr<DeviceWork>> Create(device::Device& device,
                                                            const DeviceWorkSettings& settings);

  device::Queue& queue() { return *queue_; }
  bool direct() const { return direct_; }
  StageMeter& meter() { return meter_; }
  std::optional<GpuRing::Loan> Lend(std::span<std::byte> memory) { return ring_->Lend(memory); }

  // Enqueues the transforms of a payload and returns its size, grown to whole transforms with
  // zeros. It starts in slot.host and is copied to the device first if `from_host`; it is copied to
  // slot.host at last if `to_host`.
  absl::StatusOr<size_t> Enqueue(const stages::Slot& slot, size_t payload_bytes, bool from_host,
                                 bool to_host);

  // The CRC of a payload in the job's ring: enqueued where only the device can read that, and there
  // once a later Then has run.
  absl::Status EnqueueCrc(const GpuRing::Loan& loan, size_t payload_bytes);
  static uint32_t CrcOf(const GpuRing::Loan& loan, size_t payload_bytes);

 private:
  DeviceWork(bool direct, bool beside, std::unique_ptr<GpuRing> ring,
             std::unique_ptr<device::Queue> queue)
      : direct_(direct), meter_(beside), ring_(std::move(ring)), queue_(std::move(queue)) {}

  const bool direct_;
  StageMeter meter_;
  const std::unique_ptr<GpuRing> ring_;
  std::vector<std::unique_ptr<stages::Transform>> transforms_;
  size_t granule_bytes_ = 1;                    // of all of them; a block holds whole ones
  const std::unique_ptr<device::Queue> queue_;  // goes first: it waits for work on the others
};

}  // namespace tapedeck::gpu_worker::pipeline
