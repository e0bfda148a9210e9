// The holder of a LUN: one client of the cluster at a time. A lock with a lease tells others. The
// cluster itself takes nothing more from an earlier holder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage_node/store/rados/cluster.h"

namespace tapedeck::storage_node::store::rados {

// The storage node that has the LUN, for people; empty: none, or one whose lease has run out or
// whose process is gone from this machine. Takes nothing.
absl::StatusOr<std::string> HolderOf(Cluster& cluster);

// Any thread. Renews its lease on a thread of its own.
class Holding {
 public:
  // Of the LUN that `cluster` has, which outlives it. Takes it from a holder whose lease has run
  // out, or whose process is gone from this machine: that client is fenced first.
  // FAILED_PRECONDITION (MEMBER_UNUSABLE) names another one.
  static absl::StatusOr<std::unique_ptr<Holding>> Take(Cluster& cluster);
  // Gives the LUN up. After all writes have ended.
  ~Holding();

  uint64_t epoch() const { return epoch_; }

  // Not OK once somebody else has it: INTERNAL (STORE_IO).
  absl::Status status() const;

  // The operation fails with -ECANCELED if a later holder has written its object, and says that
  // this one has. The object is there.
  void Guard(librados::ObjectWriteOperation& op) const;

 private:
  explicit Holding(Cluster& cluster);
  absl::Status Lock();
  int TryLock(uint8_t flags);
  absl::Status TakeFrom(const librados::locker_t& locker);
  absl::Status Fence(const std::string& address);
  absl::Status Begin();
  absl::StatusOr<std::string> OwnAddress();
  void KeepRenewing();
  void Renew();
  void Lose(const std::string& why);

  Cluster& cluster_;
  const std::string cookie_;
  const absl::Duration lease_;
  std::string fenced_;  // an address
  uint64_t epoch_ = 0;
  mutable absl::Mutex mutex_;
  absl::Status lost_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread renewing_;
};

}  // namespace tapedeck::storage_node::store::rados
