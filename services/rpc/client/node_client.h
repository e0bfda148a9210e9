// What a node tells about itself, from afar.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/node.h"
#include "services/rpc/client/calls/channel.h"

namespace tapedeck::services::client {

// Blocks, at most for `timeout`.
absl::StatusOr<NodeInfo> GetNode(const Channel& channel, absl::Duration timeout);

}  // namespace tapedeck::services::client
