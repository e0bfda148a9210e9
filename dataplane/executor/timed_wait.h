// Waits that have an end, by the steady clock. Abseil's own timed waits end by the wall clock: if
// that steps back by an hour, they end an hour late. tests/lint forbids them.
//
// A program that links this serves all timed waits of its Abseil by the steady clock, those of gRPC
// included. In a shared library that hides its symbols the host's Abseil stays as it is. There
// these functions poll, and may see a condition 5 ms late.
//
// Any thread that may wait. Nothing here makes a thread.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"

namespace tapedeck::dataplane {

// Waits until `condition` holds: true. False if it does not hold at the deadline. As with
// absl::Mutex::Await, others have the mutex meanwhile, and this thread has it again at the end.
bool AwaitUntil(absl::Mutex& mutex, const absl::Condition& condition, Deadline deadline)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
bool AwaitFor(absl::Mutex& mutex, const absl::Condition& condition, absl::Duration patience)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

// Waits until there was a notification: true. False if there is none at the deadline.
bool AwaitUntil(const absl::Notification& notification, Deadline deadline);
bool AwaitFor(const absl::Notification& notification, absl::Duration patience);

}  // namespace tapedeck::dataplane
