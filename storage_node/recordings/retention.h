// The deletions by a LUN's policies: the oldest closed recordings, for space or for their age. It
// never deletes recordings that are kept, written or played. While a segment of a stream is still
// written, it deletes no later segment, unless only that makes space for new data.
#pragma once

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::recordings {

// The part of a ring that is kept free for the next segments of two streams, so that none waits for
// a deletion.
inline constexpr uint64_t kFreePart = 32;

// How much a LUN may hold before the oldest go; UINT64_MAX: no such limit.
uint64_t FillLimit(const luns::OpenLun& lun);

// Of a LUN with policy RING: deletes until `bytes` more fit, or nothing is left that may go. Any
// thread; waits for the disk.
absl::Status MakeRoom(Recordings& recordings, const std::string& lun_id, luns::OpenLun& lun,
                      uint64_t bytes);

// Of the bytes that a LUN uses: those that MakeRoom cannot free now, of recordings that are kept,
// written or read. Any thread; waits for the catalog.
absl::StatusOr<uint64_t> HeldBytes(Recordings& recordings, const std::string& lun_id,
                                   const luns::OpenLun& lun);

// Deletes all that the policies no longer keep by `age`; returns when to look again for what is too
// old. Any thread; waits for the disk.
absl::StatusOr<int64_t> ApplyPolicies(Recordings& recordings, const std::string& lun_id,
                                      luns::OpenLun& lun, const AgeBase& age);

// When to look again for what is too old, by LUN uid, and what that follows from: with another
// max_age, or when the machine's clock stepped back behind the last look, at once. Shared with what
// is queued.
struct NextLook {
  int64_t looked_ns = 0;
  int64_t at_ns = 0;
  int64_t max_age_ns = 0;
};
struct NextLooks {
  absl::Mutex mutex;
  std::map<std::string, NextLook> looks ABSL_GUARDED_BY(mutex);
};

inline constexpr absl::Duration kRetentionPeriod = absl::Seconds(1);
// What is too old and could not go yet is looked at again so soon.
inline constexpr absl::Duration kLeftPeriod = absl::Minutes(1);

// Has the policies of all LUNs applied, each on the LUN's own thread, and warns of those that fill
// up. Owned by the node.
class Retention {
 public:
  explicit Retention(Recordings& recordings) : recordings_(recordings) {}

  // One round; on one thread.
  void Look();

 private:
  // Of a LUN that stops its recordings when it is full: once below 10 % of room, once below 1 %.
  void WarnOfFill(const luns::OpenLun& lun);

  Recordings& recordings_;
  const std::shared_ptr<NextLooks> next_looks_ = std::make_shared<NextLooks>();
  std::map<std::string, uint64_t> warned_percent_;  // by LUN uid
};

}  // namespace tapedeck::storage_node::recordings
