// So many bytes a second, on average from its beginning on. One thread that may wait.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dataplane/clock.h"
#include "services/base/rate_limiter.h"

namespace tapedeck::services::copying {

class Pace {
 public:
  // 0: as fast as it goes.
  explicit Pace(uint64_t bytes_per_s) : bytes_per_s_(bytes_per_s) {}

  // Until `bytes` more may follow, asking `go_on` at least ten times a second, and once in any
  // case. False: it said no.
  bool Wait(uint64_t bytes, const std::function<bool()>& go_on) {
    if (bytes_per_s_ > 0) {
      // What could not be used of the time before is not made up for.
      const double bytes_s = static_cast<double>(bytes) / static_cast<double>(bytes_per_s_);
      limiter_.Count({.each_ns = static_cast<int64_t>(bytes_s * 1e9)}, NowNs());
    }
    while (go_on()) {
      const int64_t left_ns = limiter_.WaitNs(NowNs());
      if (left_ns == 0) return true;
      absl::SleepFor(absl::Nanoseconds(std::min(left_ns, 100 * dataplane::kMillisecondNs)));
    }
    return false;
  }

 private:
  static int64_t NowNs() { return dataplane::SystemClock().NowNs(); }

  uint64_t bytes_per_s_;
  RateLimiter limiter_;
};

}  // namespace tapedeck::services::copying
