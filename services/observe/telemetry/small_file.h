// Reads of /proc and /sys, which lie in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tapedeck::services::telemetry {

// The first 4 KiB; none if it cannot be read.
std::optional<std::string> ReadSmallFile(const std::string& path);

// The number that the file begins with.
std::optional<int64_t> ReadNumber(const std::string& path);

// Names in a directory, without those that begin with a dot; `most` at most.
std::vector<std::string> NamesIn(const std::string& path, size_t most);

}  // namespace tapedeck::services::telemetry
