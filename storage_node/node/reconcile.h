// Opens LUNs, makes the catalog agree with their files, and closes what a crash left open.
#pragma once

#include "absl/status/status.h"
#include "storage_node/node/parts.h"

namespace tapedeck::storage_node {

// Only what carries the LUN's mark below one of its channels is adopted or deleted; the store names
// the rest in the log. Waits for the disk. What the catalog holds and the files do not is removed,
// what the files hold and the catalog does not is read from them. An empty catalog is thereby
// rebuilt. Nobody else knows the LUN until it is in parts.luns, which it is only if all went well.
absl::Status OpenLunAndReconcile(NodeParts& parts, const services::Lun& config);

// Removes from the catalog what belongs to LUNs that the node does not have.
absl::Status ForgetLuns(NodeParts& parts);

// Start-up: every LUN. One that cannot be opened is offline, and what the catalog knows of it
// stays.
absl::Status OpenLunsAndReconcile(NodeParts& parts);

}  // namespace tapedeck::storage_node
