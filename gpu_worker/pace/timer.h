// Time that a thread sleeps by, finer than an event loop's milliseconds; injected, so that tests
// run on a time of their own.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/clock.h"
#include "dataplane/fd.h"

namespace tapedeck::gpu_worker::pace {

// One thread waits; any may wake it and read the clocks.
class Timer : public dataplane::Clock {
 public:
  // Returns once NowNs() is there, or sooner: after a Wake since the last return, or a second.
  virtual void WaitUntil(int64_t deadline_ns) = 0;
  virtual void Wake() = 0;
};

// The kernel's high-resolution timers: a timerfd, which is not rounded to milliseconds as epoll's
// timeouts are, nor put off by a thread's timer slack. As a processor that sleeps wakes late, and
// far later where it is a virtual one, the timer is set as much early as wake-ups have been late,
// 1 ms at most, and the rest is spent looking at the clock.
class SystemTimer final : public Timer {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there are no more descriptors.
  static absl::StatusOr<std::unique_ptr<SystemTimer>> Create();

  int64_t NowNs() const override { return clock_.NowNs(); }
  int64_t WallNs() const override { return clock_.WallNs(); }
  void WaitUntil(int64_t deadline_ns) override;
  void Wake() override;

 private:
  SystemTimer(dataplane::Fd timer, dataplane::Fd wake)
      : timer_(std::move(timer)), wake_(std::move(wake)) {}

  bool Sleep(int64_t until_ns);
  void Learn(int64_t late_ns);

  const dataplane::SystemClock clock_;
  int64_t early_ns_ = 0;  // of the thread that waits
  const dataplane::Fd timer_;
  const dataplane::Fd wake_;
};

}  // namespace tapedeck::gpu_worker::pace
