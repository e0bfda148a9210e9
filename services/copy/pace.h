// So many bytes a second, on average from its beginning on. One thread that may wait.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dataplane/now.h"

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
      due_ = std::max(due_, dataplane::SteadyTime()) +
             absl::Seconds(static_cast<double>(bytes) / static_cast<double>(bytes_per_s_));
    }
    while (go_on()) {
      const absl::Duration left = due_ - dataplane::SteadyTime();
      if (left <= absl::ZeroDuration()) return true;
      absl::SleepFor(std::min(left, absl::Milliseconds(100)));
    }
    return false;
  }

 private:
  uint64_t bytes_per_s_;
  absl::Time due_ = absl::InfinitePast();
};

}  // namespace tapedeck::services::copying
