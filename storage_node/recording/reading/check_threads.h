// Threads that check blocks which were read for playbacks, so that the thread of a session only
// hands them on: it moves several times what one thread can check.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/executor/executor.h"
#include "services/base/threads/task_thread.h"

namespace tapedeck::storage_node::recording {

// Any thread. The executors that its tasks post to outlive it.
class CheckThreads {
 public:
  // A quarter of the machine's processors, 4 at most; 0 where there are fewer than 8, on which
  // handing over costs more than it gains.
  static size_t Suggested();

  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there are no threads.
  static absl::StatusOr<std::shared_ptr<CheckThreads>> Create(size_t threads);
  // What has not begun is dropped.
  ~CheckThreads() { queue_->Drop(); }

  // Tasks compute, and wait for nothing; the rings of the sessions bound how many there are.
  void Run(dataplane::Task task) { queue_->Post(std::move(task)); }

 private:
  CheckThreads() = default;

  const std::shared_ptr<services::TaskQueue> queue_ = std::make_shared<services::TaskQueue>();
  std::vector<std::unique_ptr<services::TaskThread>> threads_;
};

}  // namespace tapedeck::storage_node::recording
