// SIGTERM, SIGINT and SIGHUP, unless nohup(1) has that ignored, as something main waits for,
// instead of a handler.
#pragma once

#include <functional>

namespace tapedeck::services::server {

// Called first in main: threads started later inherit the mask. SIGPIPE is ignored: a peer that has
// gone is the error of a call, whatever library makes it, and not the end of the process.
void BlockShutdownSignals();

// Returns the signal; until then it calls `meanwhile`, if there is one, every few seconds. From
// then on a second one kills the process, so that a drain can be cut short.
int WaitForShutdownSignal(const std::function<void()>& meanwhile = nullptr);

}  // namespace tapedeck::services::server
