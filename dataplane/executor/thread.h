// Threads that are made because of a call: a machine that has none left must not end the process.
// And who comes first where there are fewer processors than threads with something to do.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"

namespace tapedeck::dataplane {

// A thread that runs `run`; ps and gdb show the first 15 characters of `name`. RESOURCE_EXHAUSTED
// (LIMIT_REACHED) where the kernel gives none: RLIMIT_NPROC, pids.max of the control group, or no
// address space for its stack. `run` is destroyed unrun then. It has the priority of the first
// caller in the process, whatever that of this one is.
absl::StatusOr<std::thread> StartThread(const std::string& name, std::function<void()> run);

// The calling thread's turns come after those of others from now on: nice(2) of 10, a tenth of the
// weight. For what answers callers, beside what moves blocks. Threads that it makes have the same,
// but for those of StartThread.
void LowerPriority();

}  // namespace tapedeck::dataplane
