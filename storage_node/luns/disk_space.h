// Compares the free space of the file systems beneath a LUN's members with the LUN's capacity.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::storage_node::luns {

// Bytes that new recordings of the LUN can use: blocks go round its members, so the scarcest counts
// for each, and members on one file system share what that has.
struct DiskSpace {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;  // with what is taken, also by others
  std::string member;        // the scarcest
};

// None: no member is a directory on a file system that tells its size. Waits for the disks.
std::optional<DiskSpace> SpaceOf(const services::Lun& lun);

// That a capacity of so many bytes, 0 for none, is more than the file systems have; empty: it is
// not, as far as is known. Stays the same while others write there.
std::string Shortage(uint64_t capacity_bytes, const std::optional<DiskSpace>& space);

// RESOURCE_EXHAUSTED (LUN_FULL): a recording of so many bytes would find its file system full.
// Files that were written before recordings need them make room for it. `used_bytes` are those of
// the LUN's recordings: if they are too few to make room, it lacks a disk (disk::Lacking).
absl::Status CheckFree(const services::Lun& lun, uint64_t bytes, uint64_t used_bytes,
                       const std::optional<DiskSpace>& space);

// What was found last. Any thread.
class FoundSpace {
 public:
  void Set(std::optional<DiskSpace> space) {
    absl::MutexLock lock(&mutex_);
    space_ = std::move(space);
  }
  std::optional<DiskSpace> now() const {
    absl::MutexLock lock(&mutex_);
    return space_;
  }

 private:
  mutable absl::Mutex mutex_;
  std::optional<DiskSpace> space_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::luns
