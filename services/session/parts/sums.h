// Of the sessions of one job, one to each node.
#pragma once

#include <vector>

#include "services/session/opening/client_session.h"

namespace tapedeck::services::parts {

// Counters, rails and stage times as sums, times as the longest; the first Accept that there is.
// Blocks, and whether it has ended, say those who join the parts.
session::Snapshot Sum(const std::vector<session::Snapshot>& parts);

}  // namespace tapedeck::services::parts
