// The thread of a LUN that waits for its disks in place of sessions: it opens, makes, seeks, lists
// and deletes. Sessions ask it, and go on.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"
#include "services/base/threads/task_thread.h"

namespace tapedeck::storage_node::luns {

// Any thread, but Stop and the destructor not on the queue's own.
class LunQueue {
 public:
  // `at_once`: what is given is done before Run returns, for simulations with stores that never
  // wait.
  explicit LunQueue(std::string lun, bool at_once = false)
      : lun_(std::move(lun)), at_once_(at_once) {}
  ~LunQueue() { Stop(); }

  // Runs what is queued, then joins. What comes later is dropped.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Runs `task` after all that was given before.
  void Run(dataplane::Task task) ABSL_LOCKS_EXCLUDED(mutex_);

  // The same for what strangers ask for. RESOURCE_EXHAUSTED (LIMIT_REACHED) while too much waits,
  // or if the queue has no thread yet and none can be made.
  absl::Status TryRun(dataplane::Task task) ABSL_LOCKS_EXCLUDED(mutex_);

  // Tasks that are not done.
  size_t waiting() const { return tasks_->waiting(); }

 private:
  absl::Status MakeThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string lun_;
  const bool at_once_;
  const std::shared_ptr<services::TaskQueue> tasks_ = std::make_shared<services::TaskQueue>();
  absl::Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<services::TaskThread> thread_ ABSL_GUARDED_BY(mutex_);  // made when first needed
};

// The queues of a node. Any thread.
class LunQueues {
 public:
  // Of all queues that are made from now on.
  void SetAtOnce(bool at_once) ABSL_LOCKS_EXCLUDED(mutex_);

  // Of all queues: their tasks may use other queues until those are stopped, too.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // By the LUN's id. It stays when the LUN is deleted: what was asked for may not be done.
  std::shared_ptr<LunQueue> Of(const std::string& lun) ABSL_LOCKS_EXCLUDED(mutex_);

  // How much each has to do, of those that have something.
  std::map<std::string, size_t> Busy() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable absl::Mutex mutex_;
  bool at_once_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, std::shared_ptr<LunQueue>> queues_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::luns
