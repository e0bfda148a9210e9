// errno as a Status that names what failed where.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::storage_node::disk {

// RESOURCE_EXHAUSTED (LUN_FULL) for a full file system or quota, else INTERNAL (STORE_IO).
// `operation` is the failing call, `where` the path it failed on, `member` the LUN's member.
absl::Status IoError(absl::string_view operation, absl::string_view where, absl::string_view member,
                     int error);

// By these a path leads nowhere any more, or a disk does nothing any more; what else a call fails
// with says nothing of that.
bool IsEndOfDisk(int error);

}  // namespace tapedeck::storage_node::disk
