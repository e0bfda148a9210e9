// Time that a thread sleeps by, finer than an event loop's milliseconds; injected, so that tests
// run on a time of their own.
#pragma once

#include <cstdint>

#include "dataplane/clock.h"

namespace tapedeck::gpu_worker::pace {

// One thread waits; any may wake it and read the clocks.
class Timer : public dataplane::Clock {
 public:
  // Returns once NowNs() is there, or sooner: after a Wake since the last return, or a second.
  virtual void WaitUntil(int64_t deadline_ns) = 0;
  virtual void Wake() = 0;
};

}  // namespace tapedeck::gpu_worker::pace
