// Whether a channel takes a copy of a recording, and of what that copy says it is one. Any thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/catalog.h"

namespace tapedeck::services::copying {

// INVALID_ARGUMENT (ARGUMENT_INVALID): it holds something else.
absl::Status CheckFits(const Recording& source, const Channel& channel);

// Recording::earlier_originals of a copy of `source`.
std::vector<std::string> EarlierOf(const Recording& source);

}  // namespace tapedeck::services::copying
