// The storage node as a session of tapectl's own needs it.
#pragma once

#include "absl/status/statusor.h"
#include "services/rpc/storage_session/peer.h"
#include "services/tapectl/program/program.h"

namespace tapedeck::services::tapectl {

// Asks the node for its rails.
absl::StatusOr<storage_session::Peer> StoragePeer(const Program& program);

}  // namespace tapedeck::services::tapectl
