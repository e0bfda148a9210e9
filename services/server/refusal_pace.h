// So many failed calls a second are answered at once; more of them one after the other, at that
// pace. A caller that asks wrongly as fast as it can then waits for its answers, as connections
// have few calls at a time (services/limits.h), and leaves the processors to the others.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/threads/task_thread.h"

namespace tapedeck::services::server {

struct RefusalLimits {
  int per_second = 250;
  int at_once = 250;  // after a quiet second
  // Each holds its request, kMaxRequestBytes at most. Beyond them answers go at once again.
  size_t held = 256;
};

// Any thread. The destructor gives the answers that are held.
class RefusalPace {
 public:
  explicit RefusalPace(const RefusalLimits& limits = {}) : limits_(limits) {}
  RefusalPace(const RefusalPace&) = delete;
  RefusalPace& operator=(const RefusalPace&) = delete;
  ~RefusalPace() { Stop(); }

  // Calls `answer`, here or later on a thread of its own. It does not wait.
  void Answer(std::function<void()> answer) ABSL_LOCKS_EXCLUDED(mutex_);

  // Gives what is held at once, and what comes later too.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // When this answer may go; nullopt: now.
  std::optional<absl::Time> Turn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WaitUntil(absl::Time turn) ABSL_LOCKS_EXCLUDED(mutex_);

  const RefusalLimits limits_;
  const std::shared_ptr<TaskQueue> held_ = std::make_shared<TaskQueue>();
  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  // The turn of the last answer.
  absl::Time paced_until_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::unique_ptr<TaskThread> thread_ ABSL_GUARDED_BY(mutex_);  // made when first needed
};

}  // namespace tapedeck::services::server
