// A node's flight recorder, from afar.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/observe/flight/trace.h"
#include "services/rpc/client/calls/channel.h"

namespace tapedeck::services::client {

// All pages of it, as one. Blocks, at most for `timeout` at each page. RESOURCE_EXHAUSTED
// (LIMIT_REACHED): it is more than a node has rings for.
absl::StatusOr<flight::Trace> ReadTrace(const Channel& channel, absl::Duration timeout,
                                        const flight::TraceRequest& request);

}  // namespace tapedeck::services::client
