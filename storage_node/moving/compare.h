// Whether a copy has all that its original has. On the mover's thread.
#pragma once

#include "absl/status/status.h"
#include "services/copy/pace.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::moving {

// Reads each block of the copy where it lies, checks its bytes, and compares its CRC32C, length,
// sample index, time and flags with what the index of the original says. The caller has leases on
// both. DATA_LOSS (BLOCK_DAMAGED): it is no whole copy, and the text says why. CANCELLED.
absl::Status CompareCopy(const recordings::FoundRecording& source,
                         const recordings::FoundRecording& copy, const dataplane::Clock& clock,
                         services::copying::Pace& pace);

}  // namespace tapedeck::storage_node::moving
