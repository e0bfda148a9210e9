// Debian's Abseil is not built with ThreadSanitizer, so the order that absl::Mutex and
// absl::Notification give is invisible to it and every guarded field looks like a race. Linked into
// ThreadSanitizer builds, with -Wl,--wrap for each name, this tells it about locking, unlocking and
// notifying. Inside these calls Abseil evaluates the conditions of waiting threads, which it does
// under the lock but after or before what is told here: those reads are ignored, and nothing else.

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

extern "C" {

void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);

using absl::Condition;
using absl::Mutex;
using absl::Notification;
using absl::Time;

void __real__ZN4absl7debian35Mutex4LockEv(Mutex* mutex);
void __real__ZN4absl7debian35Mutex6UnlockEv(Mutex* mutex);
void __real__ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE(Mutex* mutex,
                                                           const Condition& condition);
bool __real__ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE(
    Mutex* mutex, const Condition& condition, Time deadline);
void __real__ZN4absl7debian312Notification6NotifyEv(Notification* notification);
void __real__ZNK4absl7debian312Notification19WaitForNotificationEv(Notification* notification);
bool __real__ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE(
    Notification* notification, Time deadline);

void __wrap__ZN4absl7debian35Mutex4LockEv(Mutex* mutex) {
  __real__ZN4absl7debian35Mutex4LockEv(mutex);
  __tsan_acquire(mutex);
}

void __wrap__ZN4absl7debian35Mutex6UnlockEv(Mutex* mutex) {
  __tsan_release(mutex);
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  __real__ZN4absl7debian35Mutex6UnlockEv(mutex);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

void __wrap__ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE(Mutex* mutex,
                                                           const Condition& condition) {
  __tsan_release(mutex);
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  __real__ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE(mutex, condition);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  __tsan_acquire(mutex);
}

bool __wrap__ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE(
    Mutex* mutex, const Condition& condition, Time deadline) {
  __tsan_release(mutex);
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  const bool met = __real__ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE(
      mutex, condition, deadline);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  __tsan_acquire(mutex);
  return met;
}

void __wrap__ZN4absl7debian312Notification6NotifyEv(Notification* notification) {
  __tsan_release(notification);
  __real__ZN4absl7debian312Notification6NotifyEv(notification);
}

void __wrap__ZNK4absl7debian312Notification19WaitForNotificationEv(Notification* notification) {
  __real__ZNK4absl7debian312Notification19WaitForNotificationEv(notification);
  __tsan_acquire(notification);
}

bool __wrap__ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE(
    Notification* notification, Time deadline) {
  const bool notified =
      __real__ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE(
          notification, deadline);
  __tsan_acquire(notification);
  return notified;
}

}  // extern "C"
