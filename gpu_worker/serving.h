// A worker that serves: its devices, rails, jobs, gRPC server and admin port, put together by its
// settings. tapedeck-worker is one of them; a test may have several in a process.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/settings.h"
#include "services/daemon/program.h"

namespace tapedeck::gpu_worker {

// gRPC has been started (services/rpc/grpc_process.h). Takes jobs once it returns. Errors name what
// of the settings cannot be used, and why. End cancels jobs that have not ended by themselves 9 s
// before the grace of the settings is over.
absl::StatusOr<std::unique_ptr<services::Serving>> StartServing(const Settings& settings);

}  // namespace tapedeck::gpu_worker
