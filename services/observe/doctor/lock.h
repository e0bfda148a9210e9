// Whether memory may be locked: network cards and io_uring lock what they work on.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace tapedeck::services::doctor {

// Locks so many bytes for a moment. RESOURCE_EXHAUSTED says the limit and whether the process may
// pass it. OK also where the machine has not that much memory, which is another matter.
absl::Status TryLock(uint64_t bytes);

// "the limit of locked memory is 65536 bytes, and the process has not the capability IPC_LOCK".
std::string LockLimits();

}  // namespace tapedeck::services::doctor
