// A count of durations in buckets that never change. Each count costs a few relaxed additions, no
// lock and no allocation.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "dataplane/clock.h"

namespace tapedeck::dataplane {

// Any thread. A reader may see one time counted in a bucket and not yet in the sum.
class Histogram {
 public:
  // Upper bounds: from a block that a local network carries at once to one that waits for a disk
  // that hangs. Another bucket has what takes longer.
  static constexpr std::array<int64_t, 14> kBoundsNs = {
      100 * kMicrosecondNs,  250 * kMicrosecondNs, 500 * kMicrosecondNs, 1 * kMillisecondNs,
      2500 * kMicrosecondNs, 5 * kMillisecondNs,   10 * kMillisecondNs,  25 * kMillisecondNs,
      50 * kMillisecondNs,   100 * kMillisecondNs, 250 * kMillisecondNs, 1 * kSecondNs,
      2500 * kMillisecondNs, 10 * kSecondNs};

  void Observe(int64_t ns) {
    size_t bucket = 0;
    while (bucket < kBoundsNs.size() && ns > kBoundsNs[bucket]) ++bucket;
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(ns, std::memory_order_relaxed);
  }

  // Of each bucket alone; the last has what is longer than all bounds.
  std::array<uint64_t, kBoundsNs.size() + 1> counts() const {
    std::array<uint64_t, kBoundsNs.size() + 1> counts;
    for (size_t i = 0; i < counts.size(); ++i) counts[i] = counts_[i];
    return counts;
  }
  int64_t sum_ns() const { return sum_ns_; }

 private:
  std::array<std::atomic<uint64_t>, kBoundsNs.size() + 1> counts_ = {};
  std::atomic<int64_t> sum_ns_ = 0;
};

}  // namespace tapedeck::dataplane
