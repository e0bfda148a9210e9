// How long a daemon may take to end once it is asked to: --grace.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/base/command_line/command_line.h"

namespace tapedeck::services {

inline constexpr absl::Duration kDefaultGrace = absl::Seconds(9);
// Less would not do for what is under way to be sealed.
inline constexpr absl::Duration kLeastGrace = absl::Seconds(5);
inline constexpr absl::Duration kMostGrace = absl::Hours(1);

// 10s, 1m30s. INVALID_ARGUMENT.
absl::StatusOr<absl::Duration> ParseGrace(absl::string_view text);

// `until`: what goes on meanwhile.
void AddGraceOption(const command_line::Command& daemon, absl::Duration& grace,
                    absl::string_view until);

}  // namespace tapedeck::services
