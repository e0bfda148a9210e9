// Admits playback sessions: each gets a reader of one recording, closed or still being written.
#pragma once

#include "absl/status/statusor.h"
#include "services/session/host.h"
#include "storage_node/node/parts.h"

namespace tapedeck::storage_node {

// On the session's executor; opens files and looks for the first block, which waits for the disk.
absl::StatusOr<services::session::Admission> AdmitPlayback(NodeParts& parts,
                                                           const services::session::Open& open,
                                                           dataplane::Executor& executor);

}  // namespace tapedeck::storage_node
