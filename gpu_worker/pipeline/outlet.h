// Blocks on their way from the work thread of a pipeline to the executor of the session that takes
// them, in the order in which they were given.
#pragma once

#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/block/block.h"
#include "dataplane/block/flow.h"

namespace tapedeck::gpu_worker::pipeline {

// Any thread.
class Outlet {
 public:
  // As Source::Pull and Source::SetWaker.
  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block);
  void SetWaker(dataplane::Waker waker);

  // After Close the block is destroyed.
  void Give(dataplane::Block block);
  // There is no block behind those given; the first call counts.
  void End(const absl::Status& status);

  // Nobody takes blocks any more: destroys those that wait.
  void Close();
  bool closed() const;

 private:
  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::deque<dataplane::Block> ready_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_status_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool hungry_ ABSL_GUARDED_BY(mutex_) = false;  // the last Pull found nothing
  dataplane::Waker waker_ ABSL_GUARDED_BY(mutex_);
};

// What a source answers to Reject whose blocks are nowhere else. DATA_LOSS (BLOCK_DAMAGED).
absl::Status NoOtherCopy(const dataplane::BlockHeader& header);

}  // namespace tapedeck::gpu_worker::pipeline
