// Calls to a node, as many as it answers.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/bench/node_process.h"

namespace tapedeck::bench {

// How many calls a second the node answers to so many callers, each with a connection and a thread
// of its own, one call after the other.
absl::StatusOr<double> CallsPerSecond(const NodeProcess& node, int callers,
                                      absl::Duration duration);

}  // namespace tapedeck::bench
