// Threads for tasks that may wait, so that whoever asks for one never does.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"

namespace tapedeck::services {

// Tasks for one TaskThread or several, begun in the order in which they were given. Any thread.
// Shared, because tasks may come after the threads have ended.
class TaskQueue {
 public:
  // After Close or Drop the task is destroyed unrun.
  void Post(dataplane::Task task);

  // Run ends when all tasks have begun.
  void Close();

  // Run ends after the task under way; the others are destroyed unrun.
  void Drop();

  // Runs tasks until one of these two.
  void Run();

  // Tasks that have not ended: one has when it is destroyed, too.
  size_t waiting() const;

 private:
  mutable absl::Mutex mutex_;
  std::deque<dataplane::Task> tasks_ ABSL_GUARDED_BY(mutex_);  // not begun
  size_t under_way_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// Any thread, but Stop and the destructor not on its own.
class TaskThread {
 public:
  // `name` (at most 15 characters) shows in ps and gdb. RESOURCE_EXHAUSTED (LIMIT_REACHED) where
  // there is no thread.
  static absl::StatusOr<std::unique_ptr<TaskThread>> Create(
      const std::string& name, std::shared_ptr<TaskQueue> tasks = std::make_shared<TaskQueue>());
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;
  ~TaskThread() { Stop(); }

  void Run(dataplane::Task task) { tasks_->Post(std::move(task)); }

  // Closes the queue and waits until the thread has ended. Nothing runs on it afterwards.
  void Stop();

 private:
  explicit TaskThread(std::shared_ptr<TaskQueue> tasks) : tasks_(std::move(tasks)) {}

  const std::shared_ptr<TaskQueue> tasks_;
  std::thread thread_;
};

}  // namespace tapedeck::services
