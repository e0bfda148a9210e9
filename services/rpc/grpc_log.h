// gRPC's own log lines in our format.
#pragma once

namespace tapedeck::services {

// Errors of gRPC go to dataplane::Log; the rest is dropped. Called once, in main.
void RouteGrpcLog();

}  // namespace tapedeck::services
