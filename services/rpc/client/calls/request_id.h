// Ids that make a repeated mutation harmless (AIP-155).
#pragma once

#include <string>

namespace tapedeck::services::client {

// A random UUID4, lower-case.
std::string NewRequestId();

}  // namespace tapedeck::services::client
