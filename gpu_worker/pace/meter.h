// What a job tells of when its samples went by. One thread counts, any thread asks; it outlives
// both, as it is shared with the job that shows it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "dataplane/clock.h"
#include "services/model/words/timing.h"

namespace tapedeck::gpu_worker::pace {

// Relaxed counters, each right by itself.
class Meter {
 public:
  // `samples_per_s` 0: nothing is due at any time. `at_ns` 0: no first time was asked for.
  explicit Meter(double samples_per_s, int64_t at_ns)
      : samples_per_s_(samples_per_s), at_ns_(at_ns) {}

  // A block of so many samples went by, `late_ns` after it was due.
  void Gave(uint64_t samples, int64_t late_ns);
  // One that was not there when it was due.
  void Underrun() { underruns_.fetch_add(1, std::memory_order_relaxed); }
  // Of the blocks that were asked for, so many are missing.
  void Lost(uint64_t blocks) { lost_ = blocks; }
  uint64_t lost() const { return lost_; }
  void Turns(uint64_t turns) { turns_ = turns; }
  // The first sample went by then, UTC. The first call counts.
  void First(int64_t wall_ns) {
    if (first_ns_ == 0) first_ns_ = wall_ns;
  }

  services::model::Timing timing() const;

 private:
  // Upper bounds of what a timer and a thread that is woken are late by, from a quiet processor to
  // one that others hold. Finer than those of dataplane/histogram.h, which begin at 100 us. Another
  // count has what is later.
  static constexpr std::array<int64_t, 16> kBoundsNs = {
      2 * dataplane::kMicrosecondNs,   5 * dataplane::kMicrosecondNs,
      10 * dataplane::kMicrosecondNs,  20 * dataplane::kMicrosecondNs,
      50 * dataplane::kMicrosecondNs,  100 * dataplane::kMicrosecondNs,
      200 * dataplane::kMicrosecondNs, 500 * dataplane::kMicrosecondNs,
      1 * dataplane::kMillisecondNs,   2 * dataplane::kMillisecondNs,
      5 * dataplane::kMillisecondNs,   10 * dataplane::kMillisecondNs,
      50 * dataplane::kMillisecondNs,  100 * dataplane::kMillisecondNs,
      500 * dataplane::kMillisecondNs, 1 * dataplane::kSecondNs};

  const double samples_per_s_;
  const int64_t at_ns_;
  std::array<std::atomic<uint64_t>, kBoundsNs.size() + 1> jitter_ = {};
  std::atomic<int64_t> worst_ns_ = 0;
  std::atomic<uint64_t> blocks_ = 0;
  std::atomic<uint64_t> samples_ = 0;
  std::atomic<uint64_t> underruns_ = 0;
  std::atomic<uint64_t> lost_ = 0;
  std::atomic<uint64_t> turns_ = 0;
  std::atomic<int64_t> first_ns_ = 0;
};

}  // namespace tapedeck::gpu_worker::pace
