// The kernel's high-resolution timers: a timerfd, which is not rounded to milliseconds as epoll's
// timeouts are, nor put off by a thread's timer slack.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/fd.h"
#include "gpu_worker/pace/timer.h"

namespace tapedeck::gpu_worker::pace {

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

  const dataplane::SystemClock clock_;
  const dataplane::Fd timer_;
  const dataplane::Fd wake_;
};

}  // namespace tapedeck::gpu_worker::pace
