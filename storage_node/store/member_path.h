// Members that are paths.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage_node/store/kind.h"

namespace tapedeck::storage_node::store {

// As an absolute path. INVALID_ARGUMENT (ARGUMENT_INVALID): it cannot be one. What lies there, if
// anything, is for the caller to see. Waits for the disk.
absl::StatusOr<MemberName> MemberPath(const std::string& member);

inline bool IsMemberPath(absl::string_view member) { return !member.empty() && member[0] == '/'; }

// FAILED_PRECONDITION (MEMBER_UNUSABLE) if a member of a LUN, which may be described by a file from
// anywhere, is no absolute path. Looks at nothing.
absl::Status CheckMemberPaths(const services::Lun& lun);

}  // namespace tapedeck::storage_node::store
