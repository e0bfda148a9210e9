// Rates and times of samples as people write and read them.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/words/timing.h"

namespace tapedeck::services::tapectl {

// "recorded" is 1 and "max" none; else any number. What it may be is the worker's to say.
absl::StatusOr<std::optional<double>> ParseRateFactor(absl::string_view text);

// One line for each thing that it tells, each with a line feed; none for what nobody asked.
std::string TimingText(const model::Timing& timing);

}  // namespace tapedeck::services::tapectl
