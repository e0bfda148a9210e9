// When each sample of a stream is due: exact, however long it goes on.
#pragma once

#include <cstdint>

#include "dataplane/clock.h"

namespace tapedeck::gpu_worker::pace {

// Samples that are due from an instant of the wall clock on keep to it if they can begin within
// this. Later than that, the clock was set meanwhile.
inline constexpr int64_t kMostLateNs = 60 * dataplane::kSecondNs;

// A value.
class Schedule {
 public:
  // `samples_per_s` 0: every sample is due at `start_ns`.
  explicit Schedule(double samples_per_s, int64_t start_ns = 0)
      : samples_per_s_(samples_per_s), start_ns_(start_ns) {}

  // Of the sample with this number, from 0. Each is computed from the start, so that no error adds
  // up: 64 bits of mantissa are exact to the nanosecond for centuries.
  int64_t DueNs(uint64_t sample) const {
    if (samples_per_s_ <= 0) return start_ns_;
    const long double after_ns =
        static_cast<long double>(sample) * dataplane::kSecondNs / samples_per_s_;
    constexpr long double kNever = static_cast<long double>(INT64_MAX) / 2;
    return start_ns_ + static_cast<int64_t>(after_ns < kNever ? after_ns + 0.5L : kNever);
  }

 private:
  double samples_per_s_;
  int64_t start_ns_;
};

}  // namespace tapedeck::gpu_worker::pace
