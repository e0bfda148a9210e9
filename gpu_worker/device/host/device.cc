#include "gpu_worker/device/host/device.h"

#include <cstring>

#include "dataplane/crc/crc32c.h"
#include "dataplane/memory/host/memory.h"
#include "gpu_worker/device/peer.h"

namespace tapedeck::gpu_worker::device::host {
namespace {

// Host memory between processes of one machine.
class HostPeer final : public PeerAccess {
 public:
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewSharedMemory(size_t bytes) override {
    return dataplane::host::CreateShared(bytes);
  }
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> Open(
      const dataplane::MemoryShare& share) override {
    return dataplane::host::OpenShared(share);
  }
  bool Owns(const dataplane::MemoryWindow& window) override { return window.host_accessible; }
};

class HostQueue final : public Queue {
 public:
  void* native() override { return nullptr; }

  absl::Status Copy(Way /*way*/, std::byte* to, const std::byte* from, size_t bytes) override {
    if (to != from) std::memcpy(to, from, bytes);
    return absl::OkStatus();
  }

  absl::Status CrcsOfPieces(uint32_t* crcs, std::span<const std::byte> payload,
                            size_t piece_bytes) override {
    do {
      const auto piece = payload.first(std::min(piece_bytes, payload.size()));
      *crcs++ = dataplane::Crc32c(piece);
      payload = payload.subspan(piece.size());
    } while (!payload.empty());
    return absl::OkStatus();
  }

  void Then(Callback callback) override { callback(absl::OkStatus()); }
};

class HostDevice final : public Device {
 public:
  HostDevice()
      : Device(
            {.kind = "host", .name = "host", .description = "host", .works_in_host_memory = true}) {
  }

  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewDeviceMemory(size_t bytes) override {
    return dataplane::host::Create(bytes);
  }
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewHostMemory(size_t bytes) override {
    return dataplane::host::Create(bytes);
  }
  absl::StatusOr<std::unique_ptr<Queue>> NewQueue() override {
    return std::make_unique<HostQueue>();
  }
  DirectAccess* direct() override { return nullptr; }
  PeerAccess* peer() override { return &peer_; }
  absl::StatusOr<std::unique_ptr<StreamOrder>> NewStreamOrder(size_t /*lanes*/) override {
    return host::NewStreamOrder();
  }

 private:
  HostPeer peer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> Create(int /*index*/) {
  return std::make_unique<HostDevice>();
}

}  // namespace tapedeck::gpu_worker::device::host
