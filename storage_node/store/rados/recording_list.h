// The recordings of a rados LUN, in rows of one object: which there are is known without listing
// the pool.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/store/known.h"
#include "storage_node/store/rados/cluster.h"

namespace tapedeck::storage_node::store::rados {

enum class RowState { kThere, kDeleting };

// All wait.
absl::StatusOr<std::map<RecordingPath, RowState>> ReadRows(Cluster& cluster);
absl::Status WriteRow(Cluster& cluster, const RecordingPath& path, RowState state);
absl::Status RemoveRow(Cluster& cluster, const RecordingPath& path);

}  // namespace tapedeck::storage_node::store::rados
