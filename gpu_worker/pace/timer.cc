#include "gpu_worker/pace/timer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/executor/waiting.h"

namespace tapedeck::gpu_worker::pace {
namespace {

absl::Status NoDescriptor(absl::string_view call) {
  return dataplane::LimitReached(
      "file descriptors", "RLIMIT_NOFILE",
      absl::StrCat(call, ": ", std::strerror(errno),
                   "; wait for other work to end, or raise RLIMIT_NOFILE (LimitNOFILE=)"));
}

// What a processor takes to wake up is more in a machine whose host has put it to sleep; longer
// ones are stalls, which no early start makes up for.
constexpr int64_t kMaxEarlyNs = dataplane::kMillisecondNs;

// What has come of a descriptor that is not read for its value.
void Drain(int fd) {
  uint64_t count;
  [[maybe_unused]] const ssize_t got = read(fd, &count, sizeof(count));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SystemTimer>> SystemTimer::Create() {
  dataplane::Fd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (timer.get() < 0) return NoDescriptor("timerfd_create");
  dataplane::Fd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake.get() < 0) return NoDescriptor("eventfd");
  return std::unique_ptr<SystemTimer>(new SystemTimer(std::move(timer), std::move(wake)));
}

void SystemTimer::WaitUntil(int64_t deadline_ns) {
  dataplane::MayWait("a time");
  const int64_t now_ns = NowNs();
  if (deadline_ns <= now_ns) return;
  const int64_t until_ns = std::min(deadline_ns, now_ns + dataplane::kSecondNs);
  const int64_t asleep_ns = until_ns - early_ns_;
  if (asleep_ns > now_ns) {
    if (Sleep(asleep_ns)) return;
    Learn(NowNs() - asleep_ns);
  }
  while (NowNs() < until_ns) {
  }
}

// Early enough for the latest of late; less and less so while wake-ups come sooner.
void SystemTimer::Learn(int64_t late_ns) {
  if (late_ns > early_ns_) {
    early_ns_ = std::min(late_ns + late_ns / 4, kMaxEarlyNs);
  } else {
    early_ns_ -= early_ns_ / 1024;
  }
}

// Whether somebody has called Wake.
bool SystemTimer::Sleep(int64_t until_ns) {
  const itimerspec at = {.it_interval = {},
                         .it_value = {.tv_sec = until_ns / dataplane::kSecondNs,
                                      .tv_nsec = until_ns % dataplane::kSecondNs}};
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
  pollfd ready[] = {{.fd = timer_.get(), .events = POLLIN, .revents = 0},
                    {.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  // The timer ends it; its own limit is for a kernel that has lost that.
  constexpr int kLongestMs = 1100;
  poll(ready, std::size(ready), kLongestMs);
  if (ready[0].revents != 0) Drain(timer_.get());
  if (ready[1].revents != 0) Drain(wake_.get());
  return ready[1].revents != 0;
}

void SystemTimer::Wake() {
  const uint64_t one = 1;
  // The counter cannot overflow: it is read at every wake-up.
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
}

}  // namespace tapedeck::gpu_worker::pace
