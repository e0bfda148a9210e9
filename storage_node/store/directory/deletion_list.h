// The recordings that were deleted while the other of two copies was away:
// MEMBER/.tapedeck/deleted, a line CHANNEL/RECORDING for each. Only what it names may be deleted
// from that copy once it is back.
#pragma once

#include <set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/disk/directory.h"
#include "storage_node/store/known.h"

namespace tapedeck::storage_node::store::directory {

inline constexpr char kDeletionListFile[] = "deleted";

// Durable. RESOURCE_EXHAUSTED: it has 8 MiB, some 100,000 names. Waits for the disk.
absl::Status AppendDeleted(const disk::Directory& config, const store::RecordingPath& path);

// A line that is no such name, as a crash may leave it, is none. Waits for the disk.
absl::StatusOr<std::set<store::RecordingPath>> ReadDeleted(const disk::Directory& config);

}  // namespace tapedeck::storage_node::store::directory
