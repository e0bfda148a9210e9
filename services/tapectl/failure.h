// How a failure ends the program.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"

namespace tapedeck::services::tapectl {

// What each exit status means, for the manual.
inline constexpr std::pair<int, const char*> kExitStatuses[] = {
    {0, "Done."},
    {1, "It failed in a way that is not named below; a job was cancelled; something is damaged."},
    {2, "The line is wrong, or names something impossible."},
    {3, "What it names is not there."},
    {4, "The caller may not do that, or is not known."},
    {5, "A node, or something that it needs, cannot be reached."},
    {10, "Of the doctor: warnings."},
    {11, "Of the doctor: errors."},
    {124, "It did not end in time."}};

// One of them.
int ExitCodeOf(const absl::Status& status);

// "tapectl: record: LUN full ... [LUN_FULL] — delete recordings or raise the capacity"
std::string FailureLine(const std::string& what, const absl::Status& status);

}  // namespace tapedeck::services::tapectl
