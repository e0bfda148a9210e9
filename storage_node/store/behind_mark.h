// Where a member keeps that one of two copies is behind.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tapedeck::storage_node::store {

// Any thread, one at a time; waits for the disk.
class BehindMark {
 public:
  virtual ~BehindMark() = default;

  // What was written last (format::Behind); empty: nothing, or it was removed.
  virtual absl::StatusOr<std::string> ReadBehind() = 0;
  // Durable; after a crash the old one or this. An empty one removes it.
  virtual absl::Status WriteBehind(const std::string& text) = 0;
};

}  // namespace tapedeck::storage_node::store
