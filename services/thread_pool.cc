#include "services/thread_pool.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/thread.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"

namespace tapedeck::services {

ThreadPool::~ThreadPool() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

absl::Status ThreadPool::Run(std::function<void()> task) {
  absl::MutexLock lock(&mutex_);
  const size_t most = most_threads_ + most_waiting_;
  if (under_way_ >= most) {
    return WithReason(
        absl::ResourceExhaustedError(
            absl::StrCat(most, " ", work_, " are under way already; try again when one has ended")),
        "LIMIT_REACHED", {{"limit", absl::StrCat(most)}, {"option", work_}});
  }
  const absl::Status made = MakeThread();
  if (!made.ok() && (most_waiting_ == 0 || threads_.empty())) return made;
  ++under_way_;
  tasks_.push_back(std::move(task));
  return absl::OkStatus();
}

absl::Status ThreadPool::MakeThread() {
  if (under_way_ < threads_.size() || threads_.size() == most_threads_) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(std::thread thread, dataplane::StartThread(name_, [this] { Work(); }));
  threads_.push_back(std::move(thread));
  return absl::OkStatus();
}

void ThreadPool::Work() {
  const auto ready = [this]()
                         ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !tasks_.empty(); };
  while (true) {
    std::function<void()> task;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&ready));
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
    task = nullptr;
    absl::MutexLock lock(&mutex_);
    --under_way_;
  }
}

}  // namespace tapedeck::services
