#include "gpu_worker/work_thread.h"

#include <pthread.h>

#include <utility>

namespace tapedeck::gpu_worker {

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

WorkThread::WorkThread(std::shared_ptr<TaskQueue> tasks, const std::string& name)
    : tasks_(std::move(tasks)), thread_([queue = tasks_] { queue->Run(); }) {
  pthread_setname_np(thread_.native_handle(), name.c_str());
}

WorkThread::~WorkThread() {
  tasks_->Close();
  thread_.join();
}

}  // namespace tapedeck::gpu_worker
