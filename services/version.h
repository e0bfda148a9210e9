// The release, as --version and node descriptions show it.
#pragma once

namespace tapedeck::services {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace tapedeck::services
