// What gRPC leaves out about the address to listen at: it takes port 99999 for another one, and
// does not say why it could not listen.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace tapedeck::services::server {

// INVALID_ARGUMENT unless `listen` is HOST:PORT with a port from 0 to 65535.
absl::Status CheckListenAddress(const std::string& listen);

// Tries `listen` (HOST:PORT) itself and tells what the system says, and what to do.
std::string WhyNotListening(const std::string& listen);

}  // namespace tapedeck::services::server
