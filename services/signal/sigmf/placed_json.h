// JSON of a file, whose errors name their place in it. Any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"

namespace tapedeck::services::sigmf {

// An object. INVALID_ARGUMENT (FILE_INVALID): the text is no JSON, with line and column; it is
// nested deeper than kMaxForeignDepth; or an object has a key twice, with its path.
absl::StatusOr<nlohmann::json> ParsePlaced(const std::string& path, const std::string& text);

}  // namespace tapedeck::services::sigmf
