// Lines that can be typed as they stand, two for each command, in its help and its manual page.
#pragma once

#include <array>
#include <span>

#include "absl/strings/string_view.h"

namespace tapedeck::services::tapectl {

struct Examples {
  absl::string_view command;               // "lun create"
  std::array<absl::string_view, 2> lines;  // the second may be empty
};

std::span<const Examples> ExamplesOfCommands();

}  // namespace tapedeck::services::tapectl
