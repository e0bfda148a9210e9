// How fast a part acknowledges its blocks, measured while it has some.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/clock.h"

namespace tapedeck::services::parts {

// On the executor of its dealer.
class AckRate {
 public:
  // Blocks a nanosecond; 0: not measured.
  double per_ns() const { return per_ns_; }

  // It has blocks now, and had none; or it had some, and their time does not count.
  void Begin(int64_t now_ns) { busy_since_ns_ = now_ns; }
  void Forget() {
    window_ns_ = 0;
    window_blocks_ = 0;
  }

  void Acknowledged(int64_t now_ns, uint64_t blocks) {
    window_ns_ += now_ns - busy_since_ns_;
    window_blocks_ += blocks;
    busy_since_ns_ = now_ns;
    if (window_ns_ < kWindowNs) return;
    const double rate = static_cast<double>(window_blocks_) / static_cast<double>(window_ns_);
    per_ns_ = per_ns_ == 0 ? rate : (1 - kWeight) * per_ns_ + kWeight * rate;
    Forget();
  }

  // Of one that has blocks: as slow as the time since it has acknowledged any says.
  double Bound(int64_t now_ns, double rate) const {
    const auto since_ns = static_cast<double>(window_ns_ + now_ns - busy_since_ns_);
    if (since_ns < kWindowNs) return rate;
    return std::min(rate, static_cast<double>(window_blocks_ + 1) / since_ns);
  }

 private:
  // Storage nodes acknowledge a group of blocks with each flush: a shorter time measures one flush.
  static constexpr int64_t kWindowNs = 100 * dataplane::kMillisecondNs;
  static constexpr double kWeight = 0.25;  // of a new window

  double per_ns_ = 0;
  int64_t busy_since_ns_ = 0;
  int64_t window_ns_ = 0;  // of a measurement: time with blocks
  uint64_t window_blocks_ = 0;
};

}  // namespace tapedeck::services::parts
