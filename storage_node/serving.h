// A storage node that serves: its rails, catalog, sessions, gRPC server, admin port and console,
// put together by its settings. tapedeck-storage is one of them; a test may have several in a
// process.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "services/daemon/program.h"
#include "storage_node/settings.h"

namespace tapedeck::storage_node {

// gRPC has been started (services/rpc/grpc_process.h). Takes work once it returns. Errors name what
// of the settings cannot be used, and why. End cuts and seals sessions that have not ended by
// themselves 4 s before the grace of the settings is over.
absl::StatusOr<std::unique_ptr<services::Serving>> StartServing(const Settings& settings);

}  // namespace tapedeck::storage_node
