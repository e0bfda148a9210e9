// The headings under which the help of a command with many options shows them.
#pragma once

#include <span>

#include "absl/strings/string_view.h"

namespace tapedeck::services::tapectl {

struct Heading {
  absl::string_view command;  // "lun create"; empty: tapectl itself
  absl::string_view text;
  absl::string_view options;  // "--a --b"
};

std::span<const Heading> HeadingsOfOptions();

}  // namespace tapedeck::services::tapectl
