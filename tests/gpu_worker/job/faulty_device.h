// A device whose memory the CPU must not touch, made of host memory, that refuses memory or fails
// for good when a test says so: what a GPU does after a sticky error.
#pragma once

#include <atomic>
#include <climits>
#include <memory>
#include <utility>

#include "services/base/errors.h"
#include "tests/gpu_worker/device/split_device.h"

namespace tapedeck::gpu_worker {

// Any thread; outlives the device.
struct Faults {
  std::atomic<int> steps = INT_MAX;  // that succeed until it fails, on all of its queues
  std::atomic<bool> no_memory = false;
};

class FaultyDevice final : public device::Device {
 public:
  explicit FaultyDevice(Faults& faults)
      : Device({.kind = "host", .description = "faulty:0"}),
        faults_(faults),
        inner_(std::move(pipeline::ChooseDevice("host")->device), -1) {}

  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewDeviceMemory(size_t bytes) override {
    return Unless(faults_.no_memory ? NoMemory() : inner_.NewDeviceMemory(bytes));
  }
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewHostMemory(size_t bytes) override {
    return Unless(faults_.no_memory ? NoMemory() : inner_.NewHostMemory(bytes));
  }
  absl::StatusOr<std::unique_ptr<device::Queue>> NewQueue() override {
    auto queue = Unless(inner_.NewQueue());
    if (!queue.ok()) return queue.status();
    return std::make_unique<FaultyQueue>(*std::move(queue), *this);
  }
  device::DirectAccess* direct() override { return inner_.direct(); }

 private:
  class FaultyQueue final : public device::Queue {
   public:
    FaultyQueue(std::unique_ptr<device::Queue> inner, FaultyDevice& device)
        : inner_(std::move(inner)), device_(device) {}
    void* native() override { return inner_->native(); }
    absl::Status Copy(Way way, std::byte* to, const std::byte* from, size_t bytes) override {
      return device_.Failed() ? Launch() : inner_->Copy(way, to, from, bytes);
    }
    absl::Status CrcsOfPieces(uint32_t* crcs, std::span<const std::byte> payload,
                              size_t piece_bytes) override {
      return device_.Failed() ? Launch() : inner_->CrcsOfPieces(crcs, payload, piece_bytes);
    }
    void Then(Callback callback) override {
      if (device_.faults_.steps > 0) --device_.faults_.steps;
      callback(device_.Failed() ? device_.Sticky() : absl::OkStatus());
    }

   private:
    // Libraries beside the runtime do not say what it is.
    static absl::Status Launch() { return absl::InternalError("cufftExecC2C: CUFFT_EXEC_FAILED"); }

    const std::unique_ptr<device::Queue> inner_;
    FaultyDevice& device_;
  };

  static absl::StatusOr<std::unique_ptr<dataplane::Memory>> NoMemory() {
    return services::LimitReached("memory", "memory", "cudaMalloc: out of memory");
  }
  bool Failed() const { return faults_.steps <= 0; }
  absl::Status Sticky() {
    return health().Note(services::DeviceFailed(
        "", "cudaEventSynchronize: an illegal memory access was encountered"));
  }
  template <typename T>
  absl::StatusOr<T> Unless(absl::StatusOr<T> made) {
    if (Failed()) return Sticky();
    return made;
  }

  Faults& faults_;
  SplitDevice inner_;
};

inline pipeline::DeviceChoice ChooseFaultyDevice(Faults& faults) {
  return {.device = std::make_unique<FaultyDevice>(faults),
          .description = "faulty:0",
          .why = "asked for"};
}

}  // namespace tapedeck::gpu_worker
