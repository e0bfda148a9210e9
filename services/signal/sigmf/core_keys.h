// The keys of SigMF's own namespace and what their values may be (the specification 1.2.5, "core").
// Any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace tapedeck::services::sigmf {

// Above all that a recording has: sums of a few do not overflow.
inline constexpr uint64_t kMostSamples = uint64_t{1} << 58;

// INVALID_ARGUMENT (FILE_INVALID), with the path of the value: a part of a meta is missing or of
// another kind, or a key of "core" has a value that it cannot have. Null is no value.
absl::Status CheckCoreKeys(const std::string& path, const nlohmann::json& object);

// Of an object that has been checked. None: it is absent or null.
std::optional<uint64_t> CountIn(const nlohmann::json& object, const char* key);
std::optional<double> NumberIn(const nlohmann::json& object, const char* key);
std::optional<std::string> TextIn(const nlohmann::json& object, const char* key);

// core:datetime.
struct Datetime {
  int64_t time_ns = 0;   // since 1970, UTC
  int64_t grain_ns = 0;  // of its last digit
  bool zoned = false;    // it says its zone; else it is taken as UTC
  bool leap = false;     // in a leap second, which is taken as the second behind it
};

// None: it is no time, or one beyond the years 1823 to 2116.
std::optional<Datetime> ParseDatetime(std::string text);

}  // namespace tapedeck::services::sigmf
