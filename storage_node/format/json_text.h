// JSON files that check themselves: an object with a "crc32c" member over the rest of it. The check
// value finds what has changed by chance, and vouches for nobody.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::storage_node::format {

// `object`, indented, with its check value (CRC32C of the compact text with sorted keys) added.
std::string SealJson(nlohmann::json object);

// The object that a text of at most `most` bytes is. DATA_LOSS if it is longer, has more in it than
// limits.h lets or is no JSON object. `what` names the file in errors.
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text, absl::string_view what,
                                         uint64_t most);

// The same, without its check value. DATA_LOSS also if that is wrong.
absl::StatusOr<nlohmann::json> OpenJson(absl::string_view text, absl::string_view what,
                                        uint64_t most);

}  // namespace tapedeck::storage_node::format
