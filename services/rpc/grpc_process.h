// gRPC in a process: its threads and its log lines. Its threads answer whoever calls, and take
// their turns after those that move blocks, of which callers without end would else take some.
#pragma once

#include <functional>

#include "absl/status/status.h"

namespace tapedeck::services {

// gRPC lives until the process ends, and what it starts by itself has low priority. Called once, in
// main, before anything else of gRPC. RESOURCE_EXHAUSTED: the kernel gives no thread.
absl::Status StartGrpc();

// Runs `make`, which may start threads of gRPC, and waits for it. RESOURCE_EXHAUSTED as above;
// `make` has not run then.
absl::Status WithLowPriority(const std::function<void()>& make);

// Errors of gRPC go to dataplane::Log; the rest is dropped. Called once, in main.
void RouteGrpcLog();

}  // namespace tapedeck::services
