// Admits playback sessions: each gets a reader of one recording, closed or still being written.
#pragma once

#include "absl/status/statusor.h"
#include "services/session/protocol/messages.h"
#include "storage_node/admission/means.h"
#include "storage_node/admission/session_plan.h"

namespace tapedeck::storage_node::admission {

// On the LUN's desk: looks for the recording and its first block.
absl::StatusOr<SessionPlan> PlanPlayback(Means& means, const services::session::Open& open,
                                         dataplane::Executor& executor);

}  // namespace tapedeck::storage_node::admission
