// One ring for several readers that follow each other. Each sets a waker of its own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/memory/slot_pool.h"

namespace tapedeck::storage_node::capture {

// The wakers of a ring. Any thread. Shared by all its shares; the ring's own waker is this.
class RingWakers : public std::enable_shared_from_this<RingWakers> {
 public:
  explicit RingWakers(std::shared_ptr<dataplane::SlotPool> ring) : ring_(std::move(ring)) {}

  // A pool that lends the same slots.
  std::shared_ptr<dataplane::SlotPool> Share();

 private:
  class Shared;

  void Set(const void* share, dataplane::Waker waker) {
    absl::MutexLock lock(&mutex_);
    if (waker == nullptr) {
      wakers_.erase(share);
    } else {
      wakers_[share] = std::move(waker);
    }
  }
  // Wakers only post.
  void WakeAll() {
    absl::MutexLock lock(&mutex_);
    for (const auto& [share, waker] : wakers_) waker();
  }

  const std::shared_ptr<dataplane::SlotPool> ring_;
  absl::Mutex mutex_;
  std::map<const void*, dataplane::Waker> wakers_ ABSL_GUARDED_BY(mutex_);
};

class RingWakers::Shared final : public dataplane::SlotPool {
 public:
  explicit Shared(std::shared_ptr<RingWakers> wakers)
      : wakers_(std::move(wakers)), ring_(*wakers_->ring_) {}
  ~Shared() override { wakers_->Set(this, nullptr); }

  std::optional<dataplane::Block> Take() override { return ring_.Take(); }
  void SetWaker(dataplane::Waker waker) override { wakers_->Set(this, std::move(waker)); }
  dataplane::MemoryWindow window() const override { return ring_.window(); }
  size_t slot_bytes() const override { return ring_.slot_bytes(); }
  size_t slots() const override { return ring_.slots(); }
  void ReturnSlot(uint32_t slot) override { ring_.ReturnSlot(slot); }

 private:
  const std::shared_ptr<RingWakers> wakers_;
  dataplane::SlotPool& ring_;
};

// The ring keeps a waker that does nothing once this is gone: taking it away could wait for the
// ring's lock, which a slot that comes back holds while it wakes.
inline std::shared_ptr<dataplane::SlotPool> RingWakers::Share() {
  ring_->SetWaker([self = weak_from_this()] {
    if (const auto wakers = self.lock()) wakers->WakeAll();
  });
  return std::make_shared<Shared>(shared_from_this());
}

}  // namespace tapedeck::storage_node::capture
