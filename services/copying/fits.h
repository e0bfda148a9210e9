// Whether a channel takes a copy of a recording, and of what that copy says it is one. Any thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/catalog.h"
#include "services/model/origin.h"

namespace tapedeck::services::copying {

// INVALID_ARGUMENT (ARGUMENT_INVALID): it holds something else.
absl::Status CheckFits(const Recording& source, const Channel& channel);

// Recording::earlier_originals of a copy of `source`.
std::vector<std::string> EarlierOf(const Recording& source);

// Origin of a copy of `source`: the one that it has, and its cause, cut at the most bytes of one.
// Without the cause if there is no room for it.
model::Origin OriginOf(const Recording& source);

}  // namespace tapedeck::services::copying
