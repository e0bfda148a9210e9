// A command that looks again and again, and shows what it saw.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {

struct LookOptions {
  int64_t every_ns = 1'000'000'000;
  uint64_t count = 0;  // 0: until it is interrupted
};

void AddLookOptions(Command command, LookOptions& options);

// Shows what `look` returns, as JSON or on the screen, until q is pressed. A node that does not
// answer is said in its place, and asked again, unless it was so at the first look; any other error
// ends it.
absl::Status LookAgain(const Program& program, const LookOptions& options,
                       const std::function<absl::StatusOr<std::string>()>& look);

}  // namespace tapedeck::services::tapectl
