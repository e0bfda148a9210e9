// An executor that a test pumps by hand, on virtual time. Posts may come from I/O threads.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/now.h"

namespace tapedeck::storage_node {

class ManualClock final : public dataplane::Clock {
 public:
  int64_t NowNs() const override { return now_ns; }
  int64_t WallNs() const override { return kStartNs + now_ns; }
  static constexpr int64_t kStartNs = 1'795'218'704'000'000'000;  // 2026-11-20T23:51:44Z
  int64_t now_ns = 1'000;
};

// Owned by the test; pumped by one thread.
class ManualExecutor final : public dataplane::Executor {
 public:
  // How long other threads may take to post before the clock jumps; zero where there are none.
  explicit ManualExecutor(absl::Duration patience = absl::Milliseconds(3)) : patience_(patience) {}

  void Post(dataplane::Task task) override {
    absl::MutexLock lock(&mutex_);
    tasks_.push_back(std::move(task));
  }
  void PostAt(int64_t deadline_ns, dataplane::Task task) override {
    absl::MutexLock lock(&mutex_);
    timers_.emplace(deadline_ns, std::move(task));
  }
  const ManualClock& clock() const override { return clock_; }

  // Runs tasks until `done`; jumps to the next timer when nothing else comes. False after 120 s.
  bool RunUntil(const std::function<bool()>& done) {
    const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(120);
    while (!done()) {
      if (dataplane::SteadyTime() > deadline) return false;
      RunOne();
    }
    return true;
  }

  // Runs what is there now, without waiting or moving the clock.
  void RunReady() {
    while (RunTask()) {
    }
  }

 private:
  void RunOne() {
    if (RunTask()) return;
    const auto posted = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !tasks_.empty(); };
    dataplane::Task timer;
    {
      absl::MutexLock lock(&mutex_);
      if (dataplane::AwaitFor(mutex_, absl::Condition(&posted), patience_)) return;
      if (timers_.empty()) return;
      clock_.now_ns = std::max(clock_.now_ns, timers_.begin()->first);
      timer = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
    }
    const dataplane::NoWaiting no_waiting;
    timer();
  }

  bool RunTask() {
    dataplane::Task task;
    {
      absl::MutexLock lock(&mutex_);
      if (tasks_.empty()) return false;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    const dataplane::NoWaiting no_waiting;
    task();
    return true;
  }

  const absl::Duration patience_;
  ManualClock clock_;
  absl::Mutex mutex_;
  std::deque<dataplane::Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::multimap<int64_t, dataplane::Task> timers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node
