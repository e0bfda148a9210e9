// How a failure ends the program.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::tapectl {

// 0, 1, 2 usage, 3 not found, 4 denied, 5 unavailable, 124 deadline.
int ExitCodeOf(const absl::Status& status);

// Others' words, for people: line ends as spaces, other control characters as \xNN, so that nobody
// commands the terminal of whoever reads them.
std::string Printable(absl::string_view text);

// "tapectl: record: LUN full ... [LUN_FULL] — delete recordings or raise the capacity"
std::string FailureLine(const std::string& what, const absl::Status& status);

}  // namespace tapedeck::services::tapectl
