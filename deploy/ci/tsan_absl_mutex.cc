// Debian's Abseil is not built with ThreadSanitizer, so the order that absl::Mutex gives is
// invisible to it and every guarded field looks like a race. Linked into ThreadSanitizer builds,
// with -Wl,--wrap for each name, this tells it about locking and unlocking. A real race still
// shows: nothing is suppressed.

#include "absl/synchronization/mutex.h"

extern "C" {

void __tsan_acquire(void* address);
void __tsan_release(void* address);

using absl::Condition;
using absl::Duration;
using absl::Mutex;

void __real__ZN4absl7debian35Mutex4LockEv(Mutex* mutex);
void __real__ZN4absl7debian35Mutex6UnlockEv(Mutex* mutex);
void __real__ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE(Mutex* mutex,
                                                           const Condition& condition);
bool __real__ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE(
    Mutex* mutex, const Condition& condition, Duration timeout);

void __wrap__ZN4absl7debian35Mutex4LockEv(Mutex* mutex) {
  __real__ZN4absl7debian35Mutex4LockEv(mutex);
  __tsan_acquire(mutex);
}

void __wrap__ZN4absl7debian35Mutex6UnlockEv(Mutex* mutex) {
  __tsan_release(mutex);
  __real__ZN4absl7debian35Mutex6UnlockEv(mutex);
}

void __wrap__ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE(Mutex* mutex,
                                                           const Condition& condition) {
  __tsan_release(mutex);
  __real__ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE(mutex, condition);
  __tsan_acquire(mutex);
}

bool __wrap__ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE(
    Mutex* mutex, const Condition& condition, Duration timeout) {
  __tsan_release(mutex);
  const bool met = __real__ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE(
      mutex, condition, timeout);
  __tsan_acquire(mutex);
  return met;
}

}  // extern "C"
