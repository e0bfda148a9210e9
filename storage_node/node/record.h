// Plans record sessions: a fresh recording, one after the other, or a sink that waits for triggers.
#pragma once

#include "absl/status/statusor.h"
#include "services/session/messages.h"
#include "storage_node/node/parts.h"
#include "storage_node/node/session_plan.h"

namespace tapedeck::storage_node {

// On the LUN's desk: looks for the channel.
absl::StatusOr<SessionPlan> PlanRecord(NodeParts& parts, const services::session::Open& open,
                                       dataplane::Executor& executor);

}  // namespace tapedeck::storage_node
