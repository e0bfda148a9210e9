#include "storage_node/recording/caller_loop.h"

#include "absl/time/time.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/executor/waiting.h"

namespace tapedeck::storage_node::recording {

void CallerLoop::Post(dataplane::Task task) {
  absl::MutexLock lock(&mutex_);
  tasks_.push_back(std::move(task));
}

void CallerLoop::PostAt(int64_t deadline_ns, dataplane::Task task) {
  absl::MutexLock lock(&mutex_);
  timers_.emplace(deadline_ns, std::move(task));
}

void CallerLoop::RunUntil(absl::FunctionRef<bool()> done) {
  dataplane::MayWait("the disk");
  while (!done()) Next()();
}

dataplane::Task CallerLoop::Next() {
  const auto posted = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !tasks_.empty(); };
  absl::MutexLock lock(&mutex_);
  while (true) {
    absl::Duration wait = absl::InfiniteDuration();
    if (!timers_.empty()) wait = absl::Nanoseconds(timers_.begin()->first - clock_.NowNs());
    if (wait <= absl::ZeroDuration()) {
      dataplane::Task task = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      return task;
    }
    if (!dataplane::AwaitFor(mutex_, absl::Condition(&posted), wait)) continue;
    dataplane::Task task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }
}

}  // namespace tapedeck::storage_node::recording
