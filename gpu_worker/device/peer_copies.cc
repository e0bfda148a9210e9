#include "gpu_worker/device/peer_copies.h"

#include <array>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::device {
namespace {

using dataplane::Memory;
using dataplane::MemoryShare;
using dataplane::MemoryWindow;
using dataplane::PeerPath;

Queue::Way WayOf(bool from_host, bool to_host) {
  if (from_host == to_host) return Queue::Way::kOnDevice;
  return from_host ? Queue::Way::kToDevice : Queue::Way::kToHost;
}

// One is copying while the other tells that it has.
using Queues = std::array<std::unique_ptr<Queue>, 2>;

absl::StatusOr<Queues> MakeQueues(Device& device) {
  Queues queues;
  for (std::unique_ptr<Queue>& queue : queues) {
    TD_ASSIGN_OR_RETURN(queue, device.NewQueue());
  }
  return queues;
}

class QueuePath final : public PeerPath {
 public:
  // `opened` is null where the peer is this process.
  QueuePath(Queues queues, std::unique_ptr<Memory> opened, const MemoryWindow& peer,
            bool local_host)
      : opened_(std::move(opened)),
        peer_(peer),
        local_host_(local_host),
        queues_(std::move(queues)) {}

  uint64_t bytes() const override { return peer_.bytes.size(); }

  void Read(std::span<std::byte> into, uint64_t offset, Done done) override {
    Copy(WayOf(peer_.host_accessible, local_host_), into.data(), peer_.bytes.data() + offset,
         into.size(), std::move(done));
  }
  void Write(std::span<const std::byte> from, uint64_t offset, Done done) override {
    Copy(WayOf(local_host_, peer_.host_accessible), peer_.bytes.data() + offset, from.data(),
         from.size(), std::move(done));
  }

 private:
  void Copy(Queue::Way way, std::byte* to, const std::byte* from, size_t bytes, Done done) {
    absl::MutexLock lock(&mutex_);
    Queue& queue = *queues_[turn_++ % queues_.size()];
    const absl::Status enqueued = queue.Copy(way, to, from, bytes);
    queue.Then([enqueued, done = std::move(done)](absl::Status status) mutable {
      status.Update(enqueued);
      done(status);
    });
  }

  const std::unique_ptr<Memory> opened_;
  const MemoryWindow peer_;
  const bool local_host_;
  absl::Mutex mutex_;
  size_t turn_ ABSL_GUARDED_BY(mutex_) = 0;
  Queues queues_ ABSL_GUARDED_BY(mutex_);  // go first: they end their copies
};

}  // namespace

Device* DevicePeerCopies::OwnerOf(const MemoryWindow& window) const {
  for (Device* device : devices_) {
    if (device->peer() != nullptr && device->peer()->Owns(window)) return device;
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<PeerPath>> DevicePeerCopies::Open(const MemoryShare& share,
                                                                 const MemoryWindow& local) {
  Device* const device = OwnerOf(local);
  if (device == nullptr) {
    return absl::UnimplementedError(
        "this end's ring is host memory, and ipc rails carry GPU memory only; name other rails "
        "(--rails)");
  }
  if (share.kind == MemoryShare::Kind::kNone) {
    return absl::UnimplementedError(
        "the peer's memory is not shared with other processes; name other rails (--rails)");
  }
  if (device->info().works_in_host_memory != (share.kind == MemoryShare::Kind::kMemfd)) {
    return absl::UnimplementedError(absl::StrCat(
        "the peer's memory is ", share.kind == MemoryShare::Kind::kMemfd ? "the host's" : "a GPU's",
        " and this end's is that of ", device->info().description,
        ": the worker cannot copy between the two; name other rails (--rails)"));
  }
  TD_ASSIGN_OR_RETURN(std::unique_ptr<Memory> opened, device->peer()->Open(share));
  TD_ASSIGN_OR_RETURN(Queues queues, MakeQueues(*device));
  const MemoryWindow window = opened->window();
  return std::make_unique<QueuePath>(std::move(queues), std::move(opened), window,
                                     local.host_accessible);
}

absl::StatusOr<std::unique_ptr<PeerPath>> DevicePeerCopies::Join(const MemoryWindow& peer,
                                                                 const MemoryWindow& local) {
  Device* device = OwnerOf(local.host_accessible ? peer : local);
  if (device == nullptr) {
    return absl::UnimplementedError("none of the worker's devices works in this memory");
  }
  TD_ASSIGN_OR_RETURN(Queues queues, MakeQueues(*device));
  return std::make_unique<QueuePath>(std::move(queues), nullptr, peer, local.host_accessible);
}

}  // namespace tapedeck::gpu_worker::device
