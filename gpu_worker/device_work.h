// What a pipeline does on its device: the GPU ring, the transforms and the queue they are enqueued
// on.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/gpu_ring.h"
#include "gpu_worker/stages/stage.h"

namespace tapedeck::gpu_worker {

// Owned by a pipeline, used by its work thread. Destroying it waits for the device.
class DeviceWork {
 public:
  // `fft_points` 0: no transform. Errors are those of fft::CreateTransform and of the device.
  static absl::StatusOr<std::unique_ptr<DeviceWork>> Create(device::Device& device,
                                                            size_t block_bytes,
                                                            uint32_t fft_points);

  device::Queue& queue() { return *queue_; }
  std::optional<GpuRing::Loan> Lend(std::span<std::byte> host) { return ring_->Lend(host); }

  // Enqueues the transforms of a payload and returns its size, grown to whole transforms with
  // zeros. It starts in slot.host and is copied to the device first if `from_host`; it is copied to
  // slot.host at last if `to_host`.
  absl::StatusOr<size_t> Enqueue(const stages::Slot& slot, size_t payload_bytes, bool from_host,
                                 bool to_host);

 private:
  DeviceWork(std::unique_ptr<GpuRing> ring, std::unique_ptr<device::Queue> queue)
      : ring_(std::move(ring)), queue_(std::move(queue)) {}

  const std::unique_ptr<GpuRing> ring_;
  std::vector<std::unique_ptr<stages::Transform>> transforms_;
  const std::unique_ptr<device::Queue> queue_;  // goes first: it waits for work on the others
};

}  // namespace tapedeck::gpu_worker
