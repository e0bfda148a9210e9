#include "dataplane/flight/stamp.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "dataplane/clock.h"
#include "dataplane/flight/probes.h"

namespace tapedeck::dataplane::flight {
namespace {

std::atomic<bool> is_on = true;

// The thread's ring, from its first stamp until it ends.
class ThreadRing {
 public:
  ThreadRing() {
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    ring_ = ProcessRings().Take(name.data());
  }
  ~ThreadRing() {
    if (ring_ != nullptr) ProcessRings().GiveBack(ring_);
  }
  ThreadRing(const ThreadRing&) = delete;
  ThreadRing& operator=(const ThreadRing&) = delete;

  Ring* ring() const { return ring_; }

 private:
  Ring* ring_;
};

}  // namespace

Rings& ProcessRings() {
  // Never destroyed: threads end after everything static.
  static auto* const rings = new Rings();
  return *rings;
}

void SetOn(bool on) { is_on.store(on, std::memory_order_relaxed); }

void Trail::Write(Kind kind, const Mark& mark) const {
  if (!is_on.load(std::memory_order_relaxed)) return;
  const Entry entry{.time_ns = mark.now_ns != 0 ? mark.now_ns : SystemClock().NowNs(),
                    .sequence = first_ + mark.sequence,
                    .argument = mark.argument,
                    .trail = id_,
                    .kind = kind,
                    .place = static_cast<uint8_t>(std::min<uint64_t>(mark.place, UINT8_MAX))};
  Fire(entry);
  static thread_local const ThreadRing thread_ring;
  if (thread_ring.ring() != nullptr) thread_ring.ring()->Put(entry);
}

}  // namespace tapedeck::dataplane::flight
