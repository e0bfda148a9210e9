// A lock table over resource names, which says who uses what. A lease on a name excludes exclusive
// leases above and below it. So nobody deletes data under a session, and no session starts on data
// that is being deleted.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "storage_node/recording/hold.h"

namespace tapedeck::storage_node::recordings {

// Any thread. Held by shared_ptr: every lease keeps it.
class Leases : public std::enable_shared_from_this<Leases> {
 public:
  // Given back when destroyed. Any thread.
  class Lease : public recording::Hold {
   public:
    ~Lease() override { leases_->Release(name_, exclusive_); }

   private:
    friend class Leases;
    Lease(std::shared_ptr<Leases> leases, std::string name, bool exclusive)
        : leases_(std::move(leases)), name_(std::move(name)), exclusive_(exclusive) {}
    const std::shared_ptr<Leases> leases_;
    const std::string name_;
    const bool exclusive_;
  };

  // Null if there is a conflict: nobody waits. Shared: others may share it too (players).
  // Exclusive: nobody else holds the name or anything below it (writer, deletion, creation).
  std::unique_ptr<Lease> TakeShared(const std::string& name);
  std::unique_ptr<Lease> TakeExclusive(const std::string& name);

  // Whether anybody holds the name itself, or what is above it exclusively.
  bool IsHeld(const std::string& name);

  // Waits until nobody holds the name exclusively, or what is above it; false at the deadline.
  bool AwaitEnd(const std::string& name, dataplane::Deadline deadline);

  // Shared, beside the exclusive lease of `name` itself: a follower beside the writer. It stays
  // when the writer has ended. The caller knows that the exclusive holder is one that allows it.
  std::unique_ptr<Lease> TakeBeside(const std::string& name);

 private:
  struct Holders {
    size_t shared = 0;
    bool exclusive = false;
  };

  bool ExclusiveAbove(const std::string& name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Release(const std::string& name, bool exclusive);

  absl::Mutex mutex_;
  std::map<std::string, Holders> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::recordings
