// SIGTERM and SIGINT as something main waits for, instead of a handler.
#pragma once

#include <functional>

namespace tapedeck::services::server {

// Called first in main: threads started later inherit the mask.
void BlockShutdownSignals();

// Returns the signal; until then it calls `meanwhile`, if there is one, every few seconds. From
// then on a second one kills the process, so that a drain can be cut short.
int WaitForShutdownSignal(const std::function<void()>& meanwhile = nullptr);

}  // namespace tapedeck::services::server
