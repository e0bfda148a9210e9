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
  if (running_ >= most_) {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                          most_, " ", work_, " run already; try again when one of them has ended")),
                      "LIMIT_REACHED", {{"limit", absl::StrCat(most_)}, {"option", work_}});
  }
  if (running_ == threads_.size()) {
    TD_ASSIGN_OR_RETURN(std::thread thread, dataplane::StartThread(name_, [this] { Work(); }));
    threads_.push_back(std::move(thread));
  }
  ++running_;
  tasks_.push_back(std::move(task));
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
    --running_;
  }
}

}  // namespace tapedeck::services
