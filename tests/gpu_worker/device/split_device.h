// A device whose memory the CPU must not touch and network ports can reach: what a GPU is to the
// worker, made of host memory, so that direct transfers are tested on any machine.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "gpu_worker/pipeline/device_choice.h"

namespace tapedeck::gpu_worker {

// Owned by its device.
class SplitDirect final : public device::DirectAccess {
 public:
  SplitDirect(device::Device& inner, int dma_buf_fd) : inner_(inner), dma_buf_fd_(dma_buf_fd) {}

  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewRingMemory(size_t bytes) override {
    auto memory = inner_.NewDeviceMemory(bytes);
    if (!memory.ok()) return memory.status();
    return std::make_unique<Far>(*std::move(memory), dma_buf_fd_);
  }
  absl::Status CheckRoom(size_t bytes) override {
    return bytes <= room_bytes ? absl::OkStatus() : absl::ResourceExhaustedError("no room");
  }
  absl::Status visibility() const override { return visible; }
  absl::Status MakeVisible() override {
    ++flushes;
    return visible;
  }

  size_t room_bytes = SIZE_MAX;
  absl::Status visible;
  int flushes = 0;

 private:
  class Far final : public dataplane::Memory {
   public:
    Far(std::unique_ptr<dataplane::Memory> memory, int dma_buf_fd)
        : memory_(std::move(memory)), dma_buf_fd_(dma_buf_fd) {}
    dataplane::MemoryWindow window() const override {
      return {
          .bytes = memory_->window().bytes, .host_accessible = false, .dma_buf_fd = dma_buf_fd_};
    }

   private:
    const std::unique_ptr<dataplane::Memory> memory_;
    const int dma_buf_fd_;
  };

  device::Device& inner_;
  const int dma_buf_fd_;
};

class SplitDevice final : public device::Device {
 public:
  // `dma_buf_fd` is what its ring memory claims to be exported as; -1: not exported.
  SplitDevice(std::unique_ptr<device::Device> host, int dma_buf_fd,
              const std::string& name = "split", const std::string& pci_address = "")
      : Device({.kind = "host", .name = name, .description = name, .pci_address = pci_address}),
        host_(std::move(host)),
        direct_(*host_, dma_buf_fd) {}

  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewDeviceMemory(size_t bytes) override {
    return host_->NewDeviceMemory(bytes);
  }
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewHostMemory(size_t bytes) override {
    return host_->NewHostMemory(bytes);
  }
  absl::StatusOr<std::unique_ptr<device::Queue>> NewQueue() override {
    if (!broken.ok()) return broken;
    return host_->NewQueue();
  }
  SplitDirect* direct() override { return &direct_; }
  absl::StatusOr<std::unique_ptr<device::StreamOrder>> NewStreamOrder(size_t lanes) override {
    return host_->NewStreamOrder(lanes);
  }

  absl::Status broken;  // for queues

 private:
  const std::unique_ptr<device::Device> host_;
  SplitDirect direct_;
};

inline pipeline::DeviceChoice ChooseSplitDevice(int dma_buf_fd = -1,
                                                const std::string& name = "split") {
  pipeline::DeviceChoice choice = pipeline::ChooseDevice("host").value();
  choice.device = std::make_unique<SplitDevice>(std::move(choice.device), dma_buf_fd, name);
  choice.description = name;
  return choice;
}

}  // namespace tapedeck::gpu_worker
