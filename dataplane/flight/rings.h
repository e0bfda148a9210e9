// The rings of a process. A thread gets a ring with its first stamp and gives it back when it ends.
// Readers read the ring of an ended thread until another thread takes it. Threads take the oldest
// first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/flight/ring.h"

namespace tapedeck::dataplane::flight {

// 1 MiB: with blocks of 1 MiB at 1 GB/s more than 4 s of a thread that carries them.
inline constexpr size_t kRingEntries = 32768;
// Threads that stamp at the same time; 64 MiB in all, of which only what was written takes memory.
// The stamps of more threads are lost, and counted.
inline constexpr size_t kMaxRings = 64;

// Any thread.
class Rings {
 public:
  explicit Rings(size_t most = kMaxRings, size_t entries = kRingEntries)
      : most_(most), entries_(entries) {}

  // For the calling thread to write; null: there is none left.
  Ring* Take(absl::string_view thread);
  void GiveBack(Ring* ring);

  // Those that were ever written. They stay where they are.
  std::vector<const Ring*> All() const;

  // Threads that got none.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  const size_t most_;
  const size_t entries_;
  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<Ring>> rings_ ABSL_GUARDED_BY(mutex_);
  std::deque<Ring*> free_ ABSL_GUARDED_BY(mutex_);  // longest free first
  std::atomic<uint64_t> refused_ = 0;
};

}  // namespace tapedeck::dataplane::flight
