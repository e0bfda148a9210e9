// Whether a command asks storage nodes, and how many it takes.
#pragma once

#include "absl/status/status.h"
#include "services/tapectl/program/program.h"

namespace tapedeck::services::tapectl {

// Whether the command that was given may ask storage nodes.
bool AsksStorage(const Program& program);

// INVALID_ARGUMENT: --storage names several nodes, and the command that was given is about one.
absl::Status CheckSeveral(const Program& program);

}  // namespace tapedeck::services::tapectl
