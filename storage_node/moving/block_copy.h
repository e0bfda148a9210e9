// The blocks of a closed recording, into a fresh one of another LUN, and whether that copy has them
// all. On the mover's thread.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/copy/pace.h"
#include "storage_node/admission/node_resources.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::moving {

// Of `source`, which the caller has a lease on, into a channel that fits: the name of the copy,
// which is sealed and has the label of a draft. DATA_LOSS (BLOCK_DAMAGED): a block of the source is
// not what was recorded; RESOURCE_EXHAUSTED (LUN_FULL), INTERNAL (STORE_IO), CANCELLED: what there
// is of the copy is salvaged then, and has the label too.
absl::StatusOr<std::string> CopyBlocks(admission::NodeResources& resources,
                                       const recordings::FoundRecording& source,
                                       const services::Channel& channel,
                                       services::copying::Pace& pace);

// Reads each block of the copy where it lies, checks its bytes, and compares its CRC32C, length,
// sample index, time and flags with what the index of the original says. The caller has leases on
// both. DATA_LOSS (BLOCK_DAMAGED): it is no whole copy, and the text says why. CANCELLED.
absl::Status VerifyCopy(const recordings::FoundRecording& source,
                        const recordings::FoundRecording& copy, const dataplane::Clock& clock,
                        services::copying::Pace& pace);

}  // namespace tapedeck::storage_node::moving
