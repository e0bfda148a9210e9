// Whether a channel takes a copy of a recording, and of what that copy says it is one. Any thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/catalog.h"
#include "services/model/description.h"

namespace tapedeck::services::copying {

// INVALID_ARGUMENT (ARGUMENT_INVALID): it holds something else.
absl::Status CheckFits(const Recording& source, const Channel& channel);

// Recording::earlier_originals of a copy of `source`.
std::vector<std::string> EarlierOf(const Recording& source);

// The label of a copy that says why its original was not closed in order.
inline constexpr absl::string_view kCauseLabel = "original_cause";

// Labels of a copy of `source`: those that it has, and its cause, cut at the most bytes of a value.
// Without the cause if there is no room for one more label.
model::Labels LabelsOf(const Recording& source);

}  // namespace tapedeck::services::copying
