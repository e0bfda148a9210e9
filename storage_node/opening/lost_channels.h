// Channels whose file was lost, and whose recordings are there.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::opening {

// Makes each again: as the catalog had it, or else by the manifest of one of its recordings,
// without what that does not know (segments, triggers, policies). One that cannot be made is named
// in the log, with its recordings left as they are. Nobody else sees the LUN yet. Waits for the
// disk.
absl::Status MakeLostChannels(recordings::Recordings& recordings, const std::string& lun_id,
                              luns::OpenLun& lun);

}  // namespace tapedeck::storage_node::opening
