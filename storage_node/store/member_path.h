// Members that are paths.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "storage_node/store/kind.h"

namespace tapedeck::storage_node::store {

// As an absolute path. INVALID_ARGUMENT (ARGUMENT_INVALID): it cannot be one. What lies there, if
// anything, is for the caller to see. Waits for the disk.
absl::StatusOr<MemberName> MemberPath(const std::string& member);

}  // namespace tapedeck::storage_node::store
