// So many failed calls a second are answered at once; more of them one after the other, at that
// pace. A caller that asks wrongly as fast as it can then waits for its answers, as connections
// have few calls at a time (services/rpc/limits.h), and leaves the processors to the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "services/base/rate_limiter.h"
#include "services/base/threads/task_thread.h"

namespace tapedeck::services::server {

struct RefusalLimits {
  int64_t per_second = 100;
  int64_t at_once = 250;  // after a quiet time
  // Each holds its request, kMaxRequestBytes at most. Beyond them answers go at once again.
  size_t held = 256;
};

// Any thread. The destructor gives the answers that are held.
class RefusalPace {
 public:
  using Answer = std::function<void()>;
  using Gone = std::function<bool()>;

  explicit RefusalPace(const RefusalLimits& limits = {}) : limits_(limits) {}
  RefusalPace(const RefusalPace&) = delete;
  RefusalPace& operator=(const RefusalPace&) = delete;
  ~RefusalPace() { Stop(); }

  // Calls `answer`, here or later on a thread of its own. It does not wait. `gone` says that nobody
  // waits for the answer any more, so that it makes room for others; it is quick.
  void Give(
      Answer answer, Gone gone = [] { return false; }) ABSL_LOCKS_EXCLUDED(mutex_);

  // Gives what is held at once, and what comes later too.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct PendingAnswer {
    Answer answer;
    Gone gone;
  };

  // Keeps it for the thread. False: it is to be given at once.
  bool Hold(Answer& answer, Gone& gone, std::vector<Answer>& unheard)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How long the next answer waits; if it does not, it is counted as given.
  int64_t TakeTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeGone(std::vector<Answer>& unheard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveNext() ABSL_LOCKS_EXCLUDED(mutex_);

  const RefusalLimits limits_;
  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<PendingAnswer> held_ ABSL_GUARDED_BY(mutex_);
  RateLimiter limiter_ ABSL_GUARDED_BY(mutex_);
  // Made when first needed. It has a task for each that is held.
  std::unique_ptr<TaskThread> thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services::server
