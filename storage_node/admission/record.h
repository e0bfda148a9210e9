// Plans record sessions: a fresh recording, one after the other, or a sink that waits for triggers.
#pragma once

#include "absl/status/statusor.h"
#include "services/session/protocol/messages.h"
#include "storage_node/admission/means.h"
#include "storage_node/admission/session_plan.h"

namespace tapedeck::storage_node::admission {

// On the LUN's desk: looks for the channel.
absl::StatusOr<SessionPlan> PlanRecord(Means& means, const services::session::Open& open,
                                       dataplane::Executor& executor);

}  // namespace tapedeck::storage_node::admission
