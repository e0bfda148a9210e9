// Threads that are made because of a call: a machine that has none left must not end the process.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"

namespace tapedeck::dataplane {

// A thread that runs `run`; ps and gdb show the first 15 characters of `name`. RESOURCE_EXHAUSTED
// (LIMIT_REACHED) where the kernel gives none: RLIMIT_NPROC, pids.max of the control group, or no
// address space for its stack. `run` is destroyed unrun then.
absl::StatusOr<std::thread> StartThread(const std::string& name, std::function<void()> run);

}  // namespace tapedeck::dataplane
