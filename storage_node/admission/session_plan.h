// The steps of a session's admission. The LUN's queue finds what the session needs. Its ring is
// made on a thread that may take seconds. The queue then opens the files, and the session's
// executor gets them.
#pragma once

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "dataplane/executor/executor.h"
#include "dataplane/ladder/ring_fit.h"
#include "services/session/protocol/messages.h"
#include "services/session/serving/host.h"
#include "storage_node/admission/node_resources.h"
#include "storage_node/admission/session_ring.h"

namespace tapedeck::storage_node::admission {

// Makes the admission of what is open. Once, on the session's executor; what is dropped instead
// goes again.
using MakeAdmission = absl::AnyInvocable<services::session::Admission()>;

struct SessionPlan {
  RingNeed ring;
  std::string triggered;  // the channel in which it waits for triggers; empty: it does not
  // Once, on the LUN's queue.
  absl::AnyInvocable<absl::StatusOr<MakeAdmission>(dataplane::ladder::FittedRing)> open;
};

// On the LUN's queue, both.
// Looks for the channel: for a fresh recording, one after the other, or a sink that waits for
// triggers.
absl::StatusOr<SessionPlan> PlanRecord(NodeResources& resources,
                                       const services::session::Open& open,
                                       dataplane::Executor& executor);
// Looks for the recording, closed or still being written, and its first block.
absl::StatusOr<SessionPlan> PlanPlayback(NodeResources& resources,
                                         const services::session::Open& open,
                                         dataplane::Executor& executor);

}  // namespace tapedeck::storage_node::admission
