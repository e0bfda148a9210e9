// The rate of operations without payload that a peer may send over one connection.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/clock.h"

namespace tapedeck::dataplane::tcp {

// A token bucket. Operations without payload cost their sender next to nothing and the session's
// executor as much as a block, so that a flood of them would take the turns of every other session
// there. Operations with payload need a slot that was granted: they limit themselves, and bring
// what goes with them. Not thread-safe.
class Allowance {
 public:
  // Without any payload: pings, ends and the missing blocks of a lossy source need less; a flood
  // brings a hundred times as many.
  static constexpr int64_t kPerSecond = 10'000;

  // Saved up at most; the grants of a lane that comes up are 64.
  static constexpr int64_t kBurst = 1024;

  // For each operation with payload, either way: word of arrival, a grant and an acknowledgement,
  // and one to spare.
  static constexpr int64_t kPerPayload = 4;

  // How long a peer that has spent all of it waits, for 100 more.
  static constexpr int64_t kPauseNs = 10 * kMillisecondNs;

  explicit Allowance(int64_t now_ns) : refilled_ns_(now_ns) {}

  void OnPayload() { left_ = std::min(left_ + kPerPayload, kBurst); }
  void OnBare() { --left_; }

  // Whether another operation may be received now.
  bool AnyLeft(int64_t now_ns) {
    if (left_ > 0) return true;
    const int64_t more = (now_ns - refilled_ns_) / (kSecondNs / kPerSecond);
    if (more < kPauseNs * kPerSecond / kSecondNs) return false;
    left_ = std::min(left_ + more, kBurst);
    refilled_ns_ = now_ns;
    return left_ > 0;
  }

 private:
  int64_t left_ = kBurst;
  int64_t refilled_ns_;
};

}  // namespace tapedeck::dataplane::tcp
