// Sizes and durations as the command line and configurations have them, and back. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::command_line {

// 4096, 64KiB, 1MiB, 10GiB, 2TiB or 64K, 1M, 10G, 2T (powers of 1024); kB, MB, GB, TB (powers of
// 1000).
absl::StatusOr<uint64_t> ParseBytes(absl::string_view text);

// The same number in the largest unit of 1024 that it is a multiple of.
std::string BytesText(uint64_t bytes);

// 10s, 1m30s, 250ms, 2h; more than 0.
absl::StatusOr<int64_t> ParseDurationNs(absl::string_view text);
// "0" too.
absl::StatusOr<int64_t> ParseDurationOrZeroNs(absl::string_view text);

}  // namespace tapedeck::services::command_line
