// The release, as --version and node descriptions show it, and the version of the session protocol.
#pragma once

#include <cstdint>

namespace tapedeck::services {

inline constexpr char kVersion[] = "0.1.0";

// The two ends of a session need the same.
inline constexpr uint32_t kProtocolVersion = 4;

}  // namespace tapedeck::services
