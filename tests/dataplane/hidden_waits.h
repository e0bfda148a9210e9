// The timed waits of a shared library that shows nothing else, as libtapedeck.so is.
#pragma once

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "dataplane/deadline.h"

namespace tapedeck::dataplane {

struct TimedWaits {
  bool (*mutex)(absl::Mutex& mutex, const absl::Condition& condition, Deadline deadline);
  bool (*notification)(const absl::Notification& notification, Deadline deadline);
};

extern "C" const TimedWaits* HiddenWaits();

}  // namespace tapedeck::dataplane
