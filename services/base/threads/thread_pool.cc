#include "services/base/threads/thread_pool.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::services {

absl::Status ThreadPool::Run(dataplane::Task task) {
  absl::MutexLock lock(&mutex_);
  const size_t most = most_threads_ + most_waiting_;
  if (tasks_->waiting() >= most) {
    return LimitReached(
        most, work_,
        absl::StrCat(most, " ", work_, " are already running; try again when one has ended"));
  }
  const absl::Status made = MakeThread();
  if (!made.ok() && (most_waiting_ == 0 || threads_.empty())) return made;
  tasks_->Post(std::move(task));
  return absl::OkStatus();
}

absl::Status ThreadPool::MakeThread() {
  if (tasks_->waiting() < threads_.size() || threads_.size() == most_threads_) {
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(auto thread, TaskThread::Create(name_, tasks_));
  threads_.push_back(std::move(thread));
  return absl::OkStatus();
}

}  // namespace tapedeck::services
