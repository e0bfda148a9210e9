// Where a member keeps that one of two copies is behind.
#pragma once

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/store/known.h"

namespace tapedeck::storage_node::store {

// Any thread, one at a time; waits for the disk.
class BehindMark {
 public:
  virtual ~BehindMark() = default;

  // What was written last (format::Behind); empty: nothing, or it was removed.
  virtual absl::StatusOr<std::string> ReadBehind() = 0;
  // Durable; after a crash the old one or this. An empty one removes it.
  virtual absl::Status WriteBehind(const std::string& text) = 0;

  // Notes that a recording is deleted which the other copy may have; an empty WriteBehind forgets
  // them all. RESOURCE_EXHAUSTED (LIMIT_REACHED): there are too many.
  virtual absl::Status AddDeleted(const RecordingPath& path) = 0;
  virtual absl::StatusOr<std::set<RecordingPath>> Deleted() = 0;
};

}  // namespace tapedeck::storage_node::store
