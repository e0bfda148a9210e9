// The seam to compute devices. Folders host/ and cuda/ implement it; list.h names them. Stage kinds
// that run on a device have folders of the same names and reach its queue through Queue::native().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/memory/memory.h"
#include "gpu_worker/device/direct.h"
#include "gpu_worker/device/health.h"
#include "gpu_worker/device/peer.h"
#include "gpu_worker/device/stream_order.h"

namespace tapedeck::gpu_worker::device {

// Work of one pipeline on a device, in the order enqueued, without waiting for it. One thread
// enqueues. Destroying a queue waits for its work and runs the remaining callbacks.
class Queue {
 public:
  using Callback = absl::AnyInvocable<void(absl::Status)>;

  virtual ~Queue() = default;

  // What the room's own stages need to enqueue kernels (a cudaStream_t, its device made current on
  // the calling thread); null on the host. Asked for anew by whoever enqueues something.
  virtual void* native() = 0;

  // The host's side of a copy is memory of NewHostMemory. A copy between equal addresses is free.
  enum class Way { kToDevice, kOnDevice, kToHost };
  virtual absl::Status Copy(Way way, std::byte* to, const std::byte* from, size_t bytes) = 0;

  // May overlap work enqueued earlier, so that nothing which is under way may use the device's
  // side; what is enqueued later finds it there.
  absl::Status CopyToDevice(std::byte* device, const std::byte* host, size_t bytes) {
    return Copy(Way::kToDevice, device, host, bytes);
  }
  // In the order of the kernels.
  absl::Status CopyOnDevice(std::byte* to, const std::byte* from, size_t bytes) {
    return Copy(Way::kOnDevice, to, from, bytes);
  }
  // May overlap work enqueued later: nobody writes to either side until a later Then has run, nor
  // reads what it brings.
  absl::Status CopyToHost(std::byte* host, const std::byte* device, size_t bytes) {
    return Copy(Way::kToHost, host, device, bytes);
  }

  // Puts the CRC32C of each piece of a payload in memory of the device at `crcs`, which is memory
  // of NewHostMemory; there once a later Then has run. The last piece may be shorter; all start at
  // multiples of 16 bytes.
  virtual absl::Status CrcsOfPieces(uint32_t* crcs, std::span<const std::byte> payload,
                                    size_t piece_bytes) = 0;
  // Of the whole.
  absl::Status Crc32c(uint32_t* crc, std::span<const std::byte> payload) {
    return CrcsOfPieces(crc, payload, std::max<size_t>(payload.size(), 1));
  }

  // Calls back once everything enqueued so far is done, with the error if it failed. On any thread,
  // even inline: it must not block and not use the queue, only hand over to another thread.
  // Callbacks keep their order. Always called, also after a failure.
  virtual void Then(Callback callback) = 0;
};

struct DeviceInfo {
  std::string kind;         // name of the room: picks the stages' sources
  std::string name;         // "cuda:0", "host"
  std::string description;  // "cuda:0 NVIDIA H200"
  bool works_in_host_memory = false;
  uint64_t memory_bytes = 0;  // of the device; 0 unknown
  std::string pci_address;    // empty on the host
};

// Any thread. Lives until the process ends; outlives its memory and queues.
class Device {
 public:
  explicit Device(DeviceInfo info) : info_(std::move(info)), health_(info_.description) {}
  virtual ~Device() = default;
  const DeviceInfo& info() const { return info_; }
  // Told of the errors of the device by all that works on it; always good on the host.
  Health& health() { return health_; }
  const Health& health() const { return health_; }
  virtual absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewDeviceMemory(size_t bytes) = 0;
  // For the network's ring and the bounce: readable by the CPU, copied by the device at full speed.
  virtual absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewHostMemory(size_t bytes) = 0;
  virtual absl::StatusOr<std::unique_ptr<Queue>> NewQueue() = 0;
  // Null where the device works in host memory.
  virtual DirectAccess* direct() = 0;
  // Null where other processes cannot open its memory.
  virtual PeerAccess* peer() { return nullptr; }
  // `lanes` computations of a CRC at a time. The device outlives it.
  virtual absl::StatusOr<std::unique_ptr<StreamOrder>> NewStreamOrder(size_t /*lanes*/) {
    return absl::UnimplementedError(info().description +
                                    " orders nothing with a program's streams");
  }

 private:
  const DeviceInfo info_;
  Health health_;
};

}  // namespace tapedeck::gpu_worker::device
