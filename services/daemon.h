// What the two daemons' main functions share: the command line's options, session threads, the
// host's name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"

namespace tapedeck::services {

// Session threads: one per core, at most four. A session needs a fraction of one.
absl::StatusOr<std::vector<std::unique_ptr<dataplane::EventLoop>>> MakeSessionLoops();

std::vector<dataplane::Executor*> AsExecutors(
    const std::vector<std::unique_ptr<dataplane::EventLoop>>& loops);

std::string HostName();

// Prints "PROGRAM: message" with its reason on stderr; returns the exit status 1.
int FailedToStart(const std::string& program, const absl::Status& status);

}  // namespace tapedeck::services
