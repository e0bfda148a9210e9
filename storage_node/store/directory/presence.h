// Whether a member is still the directory that was opened, with what is open on it: others may
// remove it, unmount it or mount something over it, which is no error for what is open.
#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/store/directory/member.h"
#include "storage_node/store/directory/open_files.h"

namespace tapedeck::storage_node::store::directory {

// Any thread; Look on one at a time. The member outlives it.
class Presence {
 public:
  explicit Presence(Member& member) : member_(member) {}

  // INTERNAL (STORE_IO) once the member was found to be gone.
  absl::Status Add(const std::shared_ptr<OpenFiles>& files);

  // Tells those files that are gone, all of them if the member is, and returns what is wrong with
  // that: it has gone, or its disk takes nothing any more. Waits for the disk.
  absl::Status Look();

 private:
  std::vector<std::shared_ptr<OpenFiles>> Open(const absl::Status& member);

  Member& member_;
  absl::Mutex mutex_;
  std::vector<std::weak_ptr<OpenFiles>> open_ ABSL_GUARDED_BY(mutex_);
  absl::Status gone_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::store::directory
