// What a node says that it is: its role, its release, as --version and node descriptions show it,
// and the version of the session protocol.
#pragma once

#include <cstdint>

namespace tapedeck::services {

inline constexpr char kVersion[] = "0.1.0";

// The two ends of a session need the same.
inline constexpr uint32_t kProtocolVersion = 4;

// Which of the two nodes a program is.
enum class NodeRole { kStorage = 1, kWorker = 2 };

}  // namespace tapedeck::services
