// A time that goes on when a test says so.
#pragma once

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/executor/timed_wait.h"
#include "gpu_worker/pace/timer.h"

namespace tapedeck::gpu_worker::pace {

// Any thread; one sleeps.
class FakeTimer final : public Timer {
 public:
  static constexpr int64_t kWallNs = 1'700'000'000 * dataplane::kSecondNs;  // at 0

  int64_t NowNs() const override {
    absl::MutexLock lock(&mutex_);
    return now_ns_;
  }
  int64_t WallNs() const override {
    absl::MutexLock lock(&mutex_);
    return kWallNs + now_ns_ + stepped_ns_;
  }
  void WaitUntil(int64_t deadline_ns) override {
    absl::MutexLock lock(&mutex_);
    if (now_ns_ >= deadline_ns) return;
    asleep_until_ns_ = woken_ ? std::nullopt : std::optional(deadline_ns);
    const auto awake = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return woken_ || !asleep_until_ns_.has_value();
    };
    mutex_.Await(absl::Condition(&awake));
    asleep_until_ns_.reset();
    woken_ = false;
  }
  void Wake() override {
    absl::MutexLock lock(&mutex_);
    woken_ = true;
    asleep_until_ns_.reset();
  }

  // Waits for somebody to sleep; until when, or -1 if nobody does for a long time.
  int64_t AwaitSleep() {
    absl::MutexLock lock(&mutex_);
    const auto asleep = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return asleep_until_ns_.has_value();
    };
    if (!dataplane::AwaitFor(mutex_, absl::Condition(&asleep), absl::Seconds(20))) return -1;
    return *asleep_until_ns_;
  }
  void GoOnTo(int64_t now_ns) {
    absl::MutexLock lock(&mutex_);
    now_ns_ = now_ns;
    if (asleep_until_ns_.has_value() && now_ns_ >= *asleep_until_ns_) asleep_until_ns_.reset();
  }
  // The wall clock is set.
  void Step(int64_t ns) {
    absl::MutexLock lock(&mutex_);
    stepped_ns_ += ns;
  }

 private:
  mutable absl::Mutex mutex_;
  int64_t now_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t stepped_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<int64_t> asleep_until_ns_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::gpu_worker::pace
