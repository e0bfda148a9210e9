#include "services/base/threads/task_thread.h"

#include "dataplane/executor/thread.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services {

using dataplane::Task;

void TaskQueue::Post(Task task) {
  absl::MutexLock lock(&mutex_);
  // Destroying a task may post here, e.g. by the waker of a pool that gets a slot back: never under
  // the lock. A late task therefore dies with its parameter, after the lock is gone.
  if (!closed_) tasks_.push_back(std::move(task));
}

void TaskQueue::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
}

void TaskQueue::Drop() {
  std::deque<Task> unrun;
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  unrun.swap(tasks_);
}

void TaskQueue::Run() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ || !tasks_.empty();
  };
  while (true) {
    Task task;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&ready));
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      ++under_way_;
    }
    task();
    task = nullptr;
    absl::MutexLock lock(&mutex_);
    --under_way_;
  }
}

size_t TaskQueue::waiting() const {
  absl::MutexLock lock(&mutex_);
  return tasks_.size() + under_way_;
}

absl::StatusOr<std::unique_ptr<TaskThread>> TaskThread::Create(const std::string& name,
                                                               std::shared_ptr<TaskQueue> tasks) {
  TD_ASSIGN_OR_RETURN(std::thread thread, dataplane::StartThread(name, [tasks] { tasks->Run(); }));
  std::unique_ptr<TaskThread> made(new TaskThread(std::move(tasks)));
  made->thread_ = std::move(thread);
  return made;
}

void TaskThread::Stop() {
  tasks_->Close();
  if (thread_.joinable()) thread_.join();
}

}  // namespace tapedeck::services
