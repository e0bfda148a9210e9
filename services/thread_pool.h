// Threads for work that calls ask for and that takes minutes, so many at most: whoever asks for
// more is told so, and nothing waits in a queue.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::services {

// Any thread may call Run. The destructor waits for what runs.
class ThreadPool {
 public:
  // `name` of the threads (12 characters) and `work`, in the plural, for whoever is refused.
  // Threads are made when they are first needed and kept for the next.
  ThreadPool(std::string name, std::string work, size_t most)
      : name_(std::move(name)), work_(std::move(work)), most_(most) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // RESOURCE_EXHAUSTED (LIMIT_REACHED) if `most` run already, or no thread can be made for one
  // more: `task` is dropped then.
  absl::Status Run(std::function<void()> task) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Work();

  const std::string name_;
  const std::string work_;
  const size_t most_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);  // each has a thread
  size_t running_ ABSL_GUARDED_BY(mutex_) = 0;                       // with tasks_
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services
