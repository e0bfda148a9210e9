// Patterns of names: * is any run of characters but '/', ** any run of characters, everything else
// is itself.
#pragma once

#include "absl/strings/string_view.h"

namespace tapedeck::services::identity {

// Takes at most the product of the lengths in steps, whatever the pattern is.
bool Matches(absl::string_view pattern, absl::string_view text);

}  // namespace tapedeck::services::identity
