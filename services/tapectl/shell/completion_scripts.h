// What the shells are given so that Tab asks `tapectl completion words`. Constants alone.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace tapedeck::services::tapectl {

// Of bash, zsh or fish; empty: there is none.
absl::string_view CompletionScript(const std::string& shell);

}  // namespace tapedeck::services::tapectl
