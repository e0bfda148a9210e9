// SIGTERM and SIGINT as something main waits for, instead of a handler.
#pragma once

namespace tapedeck::services::server {

// Called first in main: threads started later inherit the mask.
void BlockShutdownSignals();

// Returns the signal. From then on a second one kills the process, so that a drain can be cut
// short.
int WaitForShutdownSignal();

}  // namespace tapedeck::services::server
