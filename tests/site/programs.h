// Daemons as programs, with their settings on their command lines.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tests/site/daemon.h"

namespace tapedeck::site {

// `folder` has the programs. Waits until it is ready, a minute at most.
absl::StatusOr<std::unique_ptr<Daemon>> StartProgram(const std::string& folder,
                                                     const storage_node::Settings& settings);
absl::StatusOr<std::unique_ptr<Daemon>> StartProgram(const std::string& folder,
                                                     const gpu_worker::Settings& settings);

}  // namespace tapedeck::site
