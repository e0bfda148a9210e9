// The thread of one pipeline: it reads files, enqueues device work, computes CRCs and feeds sinks,
// so that the session's executor never waits for any of it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::gpu_worker::pipeline {

// Tasks for a WorkThread, in order. Any thread. Shared, because device callbacks and pool wakers
// may post after the thread has ended; such tasks are destroyed unrun.
class TaskQueue {
 public:
  using Task = absl::AnyInvocable<void()>;

  void Post(Task task);

  // Ends Run: the task under way is the last one.
  void Close();

  // Runs tasks until Close.
  void Run();

 private:
  absl::Mutex mutex_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// Owned by the pipeline as its last member: what tasks use is destroyed after the thread has ended.
class WorkThread {
 public:
  // `name` (at most 15 characters) shows in ps and gdb. RESOURCE_EXHAUSTED (LIMIT_REACHED) where
  // there is no thread.
  static absl::StatusOr<std::unique_ptr<WorkThread>> Create(std::shared_ptr<TaskQueue> tasks,
                                                            const std::string& name);
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  // Waits for the task under way; not on the work thread itself.
  ~WorkThread();

 private:
  explicit WorkThread(std::shared_ptr<TaskQueue> tasks) : tasks_(std::move(tasks)) {}

  const std::shared_ptr<TaskQueue> tasks_;
  std::thread thread_;
};

}  // namespace tapedeck::gpu_worker::pipeline
