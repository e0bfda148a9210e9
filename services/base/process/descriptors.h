// File descriptors of the process: what ends well needs some at its end, so they are asked for at
// its beginning.
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace tapedeck::services {

// A node with fewer says so when it starts. Sixteen sessions on a LUN of eight members take half.
inline constexpr uint64_t kFewDescriptors = 1024;

// First in main: as many as the process may have without asking anybody. Logs how many there are
// where they are few.
void RaiseDescriptorLimit();

// RESOURCE_EXHAUSTED (LIMIT_REACHED) unless so many can still be opened. Reads /proc, which takes
// microseconds for each hundred that are open. Any thread.
absl::Status CheckDescriptorsLeft(uint64_t wanted);

}  // namespace tapedeck::services
