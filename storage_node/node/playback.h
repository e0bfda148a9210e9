// Admits playback sessions: each gets a reader of one recording, closed or still being written.
#pragma once

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "services/session/host.h"
#include "storage_node/node/parts.h"

namespace tapedeck::storage_node {

// Makes the admission of what is prepared. Once, on the session's executor.
using MakeAdmission = absl::AnyInvocable<services::session::Admission()>;

// On the LUN's desk: opens files and looks for the first block.
absl::StatusOr<MakeAdmission> PreparePlayback(NodeParts& parts, const services::session::Open& open,
                                              dataplane::Executor& executor);

}  // namespace tapedeck::storage_node
