// Start-up: opens the LUNs, makes the catalog agree with their files, and closes what a crash left
// open.
#pragma once

#include "absl/status/status.h"
#include "storage_node/node/parts.h"

namespace tapedeck::storage_node {

// Waits for the disk. What the catalog holds and the files do not is removed, what the files hold
// and the catalog does not is read from them. An empty catalog is thereby rebuilt.
absl::Status OpenLunsAndReconcile(NodeParts& parts);

}  // namespace tapedeck::storage_node
