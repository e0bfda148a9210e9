// Checks what a rail has written to a device's memory where it lies: makes it visible to the device
// and lets that compute the CRC. The first work of the device on a played block.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/crc/payload_crc.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::pipeline {

// Called on the session's executor, which it never makes wait for the device. Destroying it waits
// for what is under way.
class DeviceCrc final : public dataplane::PayloadCrc {
 public:
  // The device has direct access. It outlives this.
  static absl::StatusOr<std::unique_ptr<DeviceCrc>> Create(device::Device& device);

  void Compute(std::span<const std::byte> payload, Done done) override;

 private:
  DeviceCrc(device::DirectAccess& direct, std::unique_ptr<dataplane::Memory> crcs,
            std::unique_ptr<device::Queue> queue)
      : direct_(direct), crcs_(std::move(crcs)), queue_(std::move(queue)) {}

  device::DirectAccess& direct_;
  const std::unique_ptr<dataplane::Memory> crcs_;  // kMaxUnderWay of them, used in turn
  size_t next_ = 0;
  const std::unique_ptr<device::Queue> queue_;  // goes first: it waits for work on the others
};

}  // namespace tapedeck::gpu_worker::pipeline
