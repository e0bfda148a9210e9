#include "tests/dataplane/hidden_waits.h"

#include "dataplane/executor/timed_wait.h"

namespace tapedeck::dataplane {
namespace {

bool OnMutex(absl::Mutex& mutex, const absl::Condition& condition,
             Deadline deadline) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return AwaitUntil(mutex, condition, deadline);
}

bool OnNotification(const absl::Notification& notification, Deadline deadline) {
  return AwaitUntil(notification, deadline);
}

constexpr TimedWaits kHidden = {.mutex = OnMutex, .notification = OnNotification};

}  // namespace

extern "C" const TimedWaits* HiddenWaits() { return &kHidden; }

}  // namespace tapedeck::dataplane
