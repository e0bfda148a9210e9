// Resource names as people and programs write them: LUN/CHANNEL for luns/LUN/channels/CHANNEL.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::model {

// The full name of `text`, which is one already or has an id for each of the collections.
// INVALID_ARGUMENT (NAME_INVALID).
absl::StatusOr<std::string> ExpandName(const std::string& text,
                                       const std::vector<absl::string_view>& collections);

}  // namespace tapedeck::services::model
