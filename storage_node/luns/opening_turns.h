// Who may look into members that belong to no open LUN: requests to attach LUNs, and the node as it
// tries those again that are offline. Reading a device locks it, so that either would find it in
// use by the other.
#pragma once

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tapedeck::storage_node::luns {

// Any thread. A turn lasts as long as what is returned; it may outlive none of the node's parts.
class OpeningTurns {
 public:
  // A disk that hangs under a LUN that is tried does not hold up the attaching of others for more.
  static constexpr absl::Duration kPatience = absl::Seconds(2);

  // No LUN is tried from now on; waits for those that are.
  std::shared_ptr<const void> ForAttaching() {
    absl::MutexLock lock(&mutex_);
    ++attaching_;
    mutex_.AwaitWithTimeout(absl::Condition(
                                +[](int* tried) { return *tried == 0; }, &tried_),
                            kPatience);
    return Turn(&attaching_);
  }

  // Null while a LUN is attached.
  std::shared_ptr<const void> ForTrying() {
    absl::MutexLock lock(&mutex_);
    if (attaching_ > 0) return nullptr;
    ++tried_;
    return Turn(&tried_);
  }

 private:
  std::shared_ptr<const void> Turn(int* count) {
    return {this, [this, count](const void*) {
              absl::MutexLock lock(&mutex_);
              --*count;
            }};
  }

  absl::Mutex mutex_;
  int attaching_ ABSL_GUARDED_BY(mutex_) = 0;
  int tried_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tapedeck::storage_node::luns
