// Brings completions home: runs them on the executor of the object that asked, as long as that
// object exists. I/O may end long after its session.
#pragma once

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"

namespace tapedeck::storage_node::store {

// Held by shared_ptr: by the files, which close it, and by each of their operations.
class Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  explicit Mailbox(dataplane::Executor& executor) : executor_(&executor) {}

  // Any thread. Destroys `task` unrun once closed.
  void Post(dataplane::Task task) {
    absl::MutexLock lock(&mutex_);
    if (executor_ == nullptr) return;
    executor_->Post([self = shared_from_this(), task = std::move(task)]() mutable {
      {
        absl::MutexLock guard(&self->mutex_);
        if (self->executor_ == nullptr) return;
      }
      task();
    });
  }

  // On the executor: from now on no task runs and the executor is not touched.
  void Close() {
    absl::MutexLock lock(&mutex_);
    executor_ = nullptr;
  }

 private:
  absl::Mutex mutex_;
  dataplane::Executor* executor_ ABSL_GUARDED_BY(mutex_);  // null: closed
};

// Blocking work of a recording's files: done on a thread of the member, answered on the executor.
// Runs `work` on `thread`, e.g. a services::TaskThread, and brings what it returns home to `done`.
template <typename Thread, typename Work, typename Callback>
void RunOn(Thread&& thread, std::shared_ptr<Mailbox> mailbox, Work work, Callback done) {
  thread.Run([mailbox = std::move(mailbox), work = std::move(work),
              done = std::move(done)]() mutable {
    mailbox->Post([result = work(), done = std::move(done)]() mutable { done(std::move(result)); });
  });
}

}  // namespace tapedeck::storage_node::store
