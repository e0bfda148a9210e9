// JSON files that check themselves: an object with a "crc32c" member over the rest of it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::storage_node::format {

// `object`, indented, with its check value (CRC32C of the compact text with sorted keys) added.
std::string SealJson(nlohmann::json object);

// DATA_LOSS if the text is not JSON or its check value is wrong. `what` names the file in errors.
absl::StatusOr<nlohmann::json> OpenJson(absl::string_view text, absl::string_view what);

// A member of `object`; zero or empty where it is absent or of another type.
std::string StringAt(const nlohmann::json& object, const char* key);
uint64_t UintAt(const nlohmann::json& object, const char* key);
int64_t IntAt(const nlohmann::json& object, const char* key);
double DoubleAt(const nlohmann::json& object, const char* key);

}  // namespace tapedeck::storage_node::format
