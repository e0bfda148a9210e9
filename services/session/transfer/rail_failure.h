// What the failure of a rail means: whether and when to try again, and what to say. Any thread.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "dataplane/transfer/link.h"

namespace tapedeck::services::session {

// Until the next attempt, after so many failures: ±25 %, different for each link and generation, so
// that the rails of many sessions do not come back at once.
int64_t RetryDelayNs(const dataplane::Link& link, uint32_t failures, bool others_up);

// This end's own port is away: to ask again costs nothing, and the rail shall be back soon after
// it.
bool PortIsAway(const absl::Status& cause);

// Why a rail never came up, with TOKEN_INVALID or RAIL_UNREACHABLE, unless the transport gave a
// reason.
absl::Status Unreachable(const dataplane::Link& link, const absl::Status& cause);

}  // namespace tapedeck::services::session
