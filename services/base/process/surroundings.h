// What a process finds around itself as it starts, so that none of it ends the process, or spoils
// its files, later.
//
// A program that links this opens /dev/null as each of the descriptors 0 to 2 that is closed,
// before any library opens a file: else that would have one of these numbers, and what is logged
// would go into it.
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace tapedeck::services {

// First in main, before any thread. SIGXFSZ is ignored: a file that would become larger than the
// process may write (RLIMIT_FSIZE) is the error EFBIG of that write, see setrlimit(2).
void PrepareSurroundings();

// Whether SIGHUP, a terminal that is closed, asks the process to end. nohup(1) has it ignored: what
// is to outlive its terminal does. Any thread.
bool HangUpEnds();

// File descriptors: what ends well needs some at its end, so they are asked for at its beginning.

// A node with fewer says so when it starts. Sixteen sessions on a LUN of eight members take half.
inline constexpr uint64_t kFewDescriptors = 1024;

// First in main: as many as the process may have without asking anybody. Logs how many there are
// where they are few.
void RaiseDescriptorLimit();

// RESOURCE_EXHAUSTED (LIMIT_REACHED) unless so many can still be opened. Reads /proc, which takes
// microseconds for each hundred that are open. Any thread.
absl::Status CheckDescriptorsLeft(uint64_t wanted);

}  // namespace tapedeck::services
