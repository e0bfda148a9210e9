// gRPC does not say why it could not listen.
#pragma once

#include <string>

namespace tapedeck::services::server {

// Tries `listen` (HOST:PORT) itself and tells what the system says, and what to do.
std::string WhyNotListening(const std::string& listen);

}  // namespace tapedeck::services::server
