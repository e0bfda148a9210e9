// Brings completions home: runs them on the executor of the object that asked, as long as that
// object exists. I/O may end long after its session.
#pragma once

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"

namespace tapedeck::storage_node::store {

// Held by shared_ptr: by the files, which close it, and by each of their operations.
class Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  explicit Mailbox(dataplane::Executor& executor) : executor_(&executor) {}

  // Any thread. Destroys `task` unrun once closed.
  void Post(dataplane::Task task);

  // On the executor: from now on no task runs and the executor is not touched.
  void Close();

 private:
  absl::Mutex mutex_;
  dataplane::Executor* executor_ ABSL_GUARDED_BY(mutex_);  // null: closed
};

}  // namespace tapedeck::storage_node::store
