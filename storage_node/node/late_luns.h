// Opens the LUNs that are offline once their members are there: a mount that came late or again, a
// drive that was plugged in again, a lock that another process has let go.
#pragma once

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/node/parts.h"

namespace tapedeck::storage_node {

// Owned by the node.
class LateLuns {
 public:
  explicit LateLuns(NodeParts& parts);
  ~LateLuns();

 private:
  void Run();

  NodeParts& parts_;
  absl::Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::storage_node
