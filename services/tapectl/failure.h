// How a failure ends the program.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace tapedeck::services::tapectl {

// 0, 1, 2 usage, 3 not found, 4 denied, 5 unavailable, 124 deadline.
int ExitCodeOf(const absl::Status& status);

// "tapectl: record: LUN full ... [LUN_FULL] — delete recordings or raise the capacity"
std::string FailureLine(const std::string& what, const absl::Status& status);

}  // namespace tapedeck::services::tapectl
