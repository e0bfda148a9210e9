// The clock of a virtual machine, set as a program sets it that keeps clocks: by clock_adjtime(2).
#pragma once

#include <cstdint>
#include <optional>

namespace tapedeck::lab {

struct Steering {
  int64_t step_ns = 0;
  double ppm = 0;  // how much faster than by itself it goes; within 90,000
  // What the kernel is told that it is off by at most; none: that nobody keeps it.
  std::optional<int64_t> most_error_us;
};

// Exits with 1 where the kernel refuses.
void Steer(const Steering& steering);

// Tells the kernel ten times a second that the clock is kept and off by so much at most, until the
// process is ended: its own bound has no time to grow.
[[noreturn]] void Hold(int64_t most_error_us);

}  // namespace tapedeck::lab
