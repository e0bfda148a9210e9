#include "dataplane/executor/timed_wait.h"

#include <linux/futex.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <type_traits>

#include "absl/synchronization/internal/create_thread_identity.h"
#include "absl/synchronization/internal/futex.h"
#include "absl/synchronization/internal/kernel_timeout.h"
#include "absl/synchronization/internal/per_thread_sem.h"
#include "absl/synchronization/internal/waiter.h"
#include "absl/time/clock.h"
#include "dataplane/clock.h"

namespace tapedeck::dataplane {
namespace {

using absl::synchronization_internal::Futex;
using absl::synchronization_internal::KernelTimeout;
using absl::synchronization_internal::Waiter;

constexpr absl::Duration kShortestNap = absl::Microseconds(50);
constexpr absl::Duration kLongestNap = absl::Milliseconds(5);
constexpr int64_t kMostNs = INT64_MAX / 2;

// Abseil keeps a count of wake-ups for each thread, and nothing else of a wait: Post() adds to it.
static_assert(ABSL_WAITER_MODE == ABSL_WAITER_MODE_FUTEX &&
                  sizeof(Waiter) == sizeof(std::atomic<int32_t>) &&
                  std::is_standard_layout_v<Waiter>,
              "this version of Abseil is not known: check that its waits use the steady clock");

std::atomic<int32_t>& WakeUps() {
  auto* identity = absl::synchronization_internal::GetOrCreateCurrentThreadIdentity();
  return *reinterpret_cast<std::atomic<int32_t>*>(Waiter::GetWaiter(identity));
}

// Of AwaitUntil() on this thread, for the wait that Abseil asks for on its behalf.
struct Own {
  int64_t end_ns = 0;   // of the steady clock; 0: the wait is not of AwaitUntil()
  bool served = false;  // Abseil has called the function below
};
thread_local Own own;

class OwnEnd {
 public:
  explicit OwnEnd(int64_t end_ns) { own.end_ns = std::max<int64_t>(end_ns, 1); }
  ~OwnEnd() { own.end_ns = 0; }
  OwnEnd(const OwnEnd&) = delete;
  OwnEnd& operator=(const OwnEnd&) = delete;
};

// The end of a wait of others, as gRPC's, in steady nanoseconds. Some count its wall time from the
// kernel's clock, others from absl::Now(), which is wrong for seconds after a step. The nearer of
// both is never later than meant; a wait that ends early is asked for again.
int64_t EndOf(KernelTimeout timeout) {
  const SystemClock clock;
  const timespec wall = timeout.MakeAbsTimespec();
  const int64_t wall_ns = wall.tv_sec * kSecondNs + wall.tv_nsec;
  const int64_t by_kernel_ns = wall_ns - clock.WallNs();
  const int64_t by_abseil_ns = wall_ns - absl::ToUnixNanos(absl::Now());
  const bool kernel = std::abs(by_kernel_ns) <= std::abs(by_abseil_ns);
  const int64_t left_ns = kernel ? by_kernel_ns : by_abseil_ns;
  return clock.NowNs() + std::clamp<int64_t>(left_ns, 0, kMostNs);
}

// False at the end.
bool Wait(KernelTimeout timeout) {
  own.served = true;
  timespec end{};
  if (timeout.has_timeout()) {
    const int64_t end_ns = own.end_ns != 0 ? own.end_ns : EndOf(timeout);
    end = {.tv_sec = end_ns / kSecondNs, .tv_nsec = end_ns % kSecondNs};
  }
  std::atomic<int32_t>& wake_ups = WakeUps();
  while (true) {
    int32_t count = wake_ups.load(std::memory_order_relaxed);
    while (count != 0) {
      if (wake_ups.compare_exchange_weak(count, count - 1, std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
        return true;
      }
    }
    const int result =
        Futex::WaitBitsetAbsoluteTimeout(&wake_ups, 0, static_cast<int32_t>(FUTEX_BITSET_MATCH_ANY),
                                         timeout.has_timeout() ? &end : nullptr);
    if (result == -ETIMEDOUT) return false;
    if (result != 0 && result != -EINTR && result != -EAGAIN) std::abort();
  }
}

// Whether Abseil calls Wait() here.
bool Served() {
  static const bool served = [] {
    bool never = false;
    absl::Mutex mutex;
    const absl::MutexLock lock(&mutex);
    const OwnEnd end(1);
    mutex.AwaitWithDeadline(absl::Condition(&never), absl::UnixEpoch());
    return own.served;
  }();
  return served;
}

// Others have their turn in any case, as with Abseil's waits.
template <typename Met, typename Nap>
bool Poll(Deadline deadline, Met met, Nap nap) {
  for (absl::Duration time = kShortestNap; !met(); time = std::min(2 * time, kLongestNap)) {
    const absl::Duration left = deadline.left();
    nap(std::clamp(left, absl::ZeroDuration(), time));
    if (left <= absl::ZeroDuration()) return met();
  }
  return true;
}

int64_t ToNs(Deadline deadline) {
  return SystemClock().NowNs() +
         absl::ToInt64Nanoseconds(std::min(deadline.left(), absl::Nanoseconds(kMostNs)));
}

}  // namespace

bool AwaitUntil(absl::Mutex& mutex, const absl::Condition& condition, Deadline deadline) {
  if (deadline == Deadline::Never()) {
    mutex.Await(condition);
    return true;
  }
  if (Served()) {
    const OwnEnd end(ToNs(deadline));
    return mutex.AwaitWithDeadline(condition, absl::UnixEpoch());
  }
  const auto nap = [&](absl::Duration time) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    mutex.Unlock();
    absl::SleepFor(time);
    mutex.Lock();
  };
  return Poll(
      deadline, [&] { return condition.Eval(); }, nap);
}

bool AwaitFor(absl::Mutex& mutex, const absl::Condition& condition, absl::Duration patience) {
  return AwaitUntil(mutex, condition, Deadline::In(patience));
}

bool AwaitUntil(const absl::Notification& notification, Deadline deadline) {
  if (deadline == Deadline::Never()) {
    notification.WaitForNotification();
    return true;
  }
  if (Served()) {
    const OwnEnd end(ToNs(deadline));
    return notification.WaitForNotificationWithDeadline(absl::UnixEpoch());
  }
  return Poll(
      deadline, [&] { return notification.HasBeenNotified(); }, absl::SleepFor);
}

bool AwaitFor(const absl::Notification& notification, absl::Duration patience) {
  return AwaitUntil(notification, Deadline::In(patience));
}

}  // namespace tapedeck::dataplane

// Abseil's place for another way to wait.
extern "C" __attribute__((visibility("default"))) bool ABSL_INTERNAL_C_SYMBOL(
    AbslInternalPerThreadSemWait)(absl::synchronization_internal::KernelTimeout timeout) {
  return tapedeck::dataplane::Wait(timeout);
}
