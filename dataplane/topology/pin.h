// Keeps a thread on some processors.
#pragma once

#include <vector>

#include "absl/status/status.h"

namespace tapedeck::dataplane::topology {

// Keeps the calling thread on those of `cpus` that it may use already, so that a choice of the
// operator (taskset, cgroup) is narrowed and never widened. FAILED_PRECONDITION if it may use none
// of them; it then runs where it did.
absl::Status PinThisThread(const std::vector<int>& cpus);

}  // namespace tapedeck::dataplane::topology
