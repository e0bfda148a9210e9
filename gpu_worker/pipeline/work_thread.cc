#include "gpu_worker/pipeline/work_thread.h"

#include <utility>

#include "dataplane/executor/thread.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::pipeline {

void TaskQueue::Post(Task task) {
  absl::MutexLock lock(&mutex_);
  // Destroying a task may return slots to a pool whose waker posts here: never under the lock. A
  // late task therefore dies with its parameter, after the lock is gone.
  if (!closed_) tasks_.push_back(std::move(task));
}

void TaskQueue::Close() {
  std::deque<Task> unrun;
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  unrun.swap(tasks_);
}

void TaskQueue::Run() {
  while (true) {
    Task task;
    {
      absl::MutexLock lock(&mutex_);
      const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return closed_ || !tasks_.empty();
      };
      mutex_.Await(absl::Condition(&has_work));
      if (closed_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

absl::StatusOr<std::unique_ptr<WorkThread>> WorkThread::Create(std::shared_ptr<TaskQueue> tasks,
                                                               const std::string& name) {
  std::unique_ptr<WorkThread> work(new WorkThread(std::move(tasks)));
  TD_ASSIGN_OR_RETURN(work->thread_,
                      dataplane::StartThread(name, [queue = work->tasks_] { queue->Run(); }));
  return work;
}

WorkThread::~WorkThread() {
  tasks_->Close();
  if (thread_.joinable()) thread_.join();
}

}  // namespace tapedeck::gpu_worker::pipeline
