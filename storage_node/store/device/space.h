// The free units of a device. Kept in memory only: at open they follow from the units of the
// recordings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/store/device/layout.h"

namespace tapedeck::storage_node::store::device {

// Owned by the store. Any thread.
class Space {
 public:
  explicit Space(uint32_t units) : units_(units) {
    if (units > 0) free_[0] = units;
  }

  // Marks them as held. False, and nothing done, if one is held already or is not of this device.
  bool Take(const Runs& runs);

  // Up to `wanted` units in as few runs as possible, from unit `next` on where it is free. Empty,
  // and nothing done, if fewer than `needed` are free.
  Runs Allocate(uint32_t wanted, uint32_t needed, std::optional<uint32_t> next);
  void Free(const Runs& runs);

  uint32_t units() const { return units_; }
  uint32_t free_units() const;

 private:
  using FreeRuns = std::map<uint32_t, uint32_t>;  // first → count, never touching each other
  Run TakeFrom(FreeRuns::iterator run, uint32_t units) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The free run that holds `unit`, or end().
  FreeRuns::iterator Holding(uint32_t unit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FreeOne(Run run) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint32_t units_;
  mutable absl::Mutex mutex_;
  FreeRuns free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::store::device
