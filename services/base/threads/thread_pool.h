// Threads for what calls ask for and may have to wait for, so many at most: whoever asks for more
// is told so.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"
#include "services/base/threads/task_thread.h"

namespace tapedeck::services {

// Any thread may call Run. The destructor runs what is queued, and waits.
class ThreadPool {
 public:
  // `name` of the threads (12 characters) and `work`, in the plural, for whoever is refused.
  // Threads are made when they are first needed and kept for the next. While all of them have work
  // so many more may wait in a queue.
  ThreadPool(std::string name, std::string work, size_t threads, size_t waiting = 0)
      : name_(std::move(name)),
        work_(std::move(work)),
        most_threads_(threads),
        most_waiting_(waiting) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // RESOURCE_EXHAUSTED (LIMIT_REACHED) if there are as many already, or no thread can be made for
  // one more and it may not wait, or there is none to wait for: `task` is dropped then.
  absl::Status Run(dataplane::Task task) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // One more, if every thread has work.
  absl::Status MakeThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string name_;
  const std::string work_;
  const size_t most_threads_;
  const size_t most_waiting_;
  const std::shared_ptr<TaskQueue> tasks_ = std::make_shared<TaskQueue>();
  absl::Mutex mutex_;  // also held while a task is posted
  std::vector<std::unique_ptr<TaskThread>> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services
