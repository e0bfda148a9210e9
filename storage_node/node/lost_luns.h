// Takes LUNs offline whose members vanish while they are open, or whose disks take nothing any
// more.
#pragma once

#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"
#include "storage_node/node/parts.h"

namespace tapedeck::storage_node {

// Owned by the node. Looks at each LUN of directories on a thread of that LUN's own: a disk that
// hangs holds up nobody else's.
class LostLuns {
 public:
  explicit LostLuns(NodeParts& parts);
  ~LostLuns();

 private:
  void Run();
  // Unless what was asked for before is not done.
  void Ask(const std::string& lun_id, dataplane::Task task);

  NodeParts& parts_;
  absl::Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::storage_node
