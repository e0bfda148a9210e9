// What several sessions of one transfer have done together.
#pragma once

#include <vector>

#include "services/session/opening/transfer.h"

namespace tapedeck::services::session {

// One session after the other, or each to a node of its own.
enum class Together { kAfter, kBeside };

// Adds counters, times, rails and stage times. The times of sessions that are beside each other are
// the longest; a rail of theirs is up if it is for one of them.
void AddWork(const Snapshot& more, Together how, Snapshot* sum);

// Of sessions beside each other, with the first Accept that there is. Blocks, and whether it has
// ended, say those who join the parts.
Snapshot SumOf(const std::vector<Snapshot>& sessions);

}  // namespace tapedeck::services::session
