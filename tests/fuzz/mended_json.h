// JSON with the check value that it should have: an attacker computes it.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace tapedeck::fuzz {

// Empty if the text is not what is read at all.
std::string MendedJson(absl::string_view text);

}  // namespace tapedeck::fuzz
