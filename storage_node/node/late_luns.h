// Opens the LUNs that are offline once their members are there: a mount that came
// late, a drive that was plugged in again, a lock that another process has let go.
#pragma once

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/node/parts.h"

namespace tapedeck::storage_node {

// Owned by the node. Has a thread while a LUN is offline.
class LateLuns {
 public:
  explicit LateLuns(NodeParts& parts);
  ~LateLuns();

 private:
  // Any thread. Without a thread of the kernel it says so in the log.
  void Watch();
  void Run();

  NodeParts& parts_;
  absl::Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node
