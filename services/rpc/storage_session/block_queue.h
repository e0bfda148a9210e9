// Blocks between the executor of a session and a thread that may wait. Any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/block/block.h"
#include "dataplane/block/flow.h"

namespace tapedeck::services::storage_session {

class BlockQueue {
 public:
  // Called whenever something was put or taken, or the queue was closed.
  void SetWaker(dataplane::Waker waker);

  void Put(dataplane::Block block);
  std::optional<dataplane::Block> Take();
  // The same, once there is a block, or none will come any more; none after `patience`, too.
  std::optional<dataplane::Block> Wait(absl::Duration patience);

  // For another session: blocks come again, from none.
  void Open();
  // No block comes behind those that are there.
  void Close();
  // Nobody takes blocks any more: those that wait are destroyed, and so is what is put.
  void Drop();
  bool dropped() const;

  uint64_t taken() const;
  bool closed() const;
  // Closed, and all has been taken.
  bool done() const;

 private:
  std::optional<dataplane::Block> TakeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Wake() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::deque<dataplane::Block> blocks_ ABSL_GUARDED_BY(mutex_);
  uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool dropped_ ABSL_GUARDED_BY(mutex_) = false;
  dataplane::Waker waker_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services::storage_session
