// Quantities as people write them, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/base/command_line/units.h"

namespace tapedeck::services::tapectl {

using command_line::ParseBytes;
using command_line::ParseDurationNs;
using command_line::ParseDurationOrZeroNs;

// A whole number of 1 or more; with k, M or G thousands, millions or 10^9.
absl::StatusOr<uint64_t> ParseCount(absl::string_view text);

// The number of a block or sample: a whole number from 0 to 2^63 - 1, with k, M or G as ParseCount.
absl::StatusOr<int64_t> ParseNumber(absl::string_view text);

// A number of 0 or more, e.g. 1e9, 2.4e6 or 2.4M, with k, M or G as ParseCount.
absl::StatusOr<double> ParseRate(absl::string_view text);

// 2026-01-31T12:00:00Z, or how long ago: -30s, -200ms. As nanoseconds since the Unix epoch.
absl::StatusOr<int64_t> ParseTimeNs(absl::string_view text);

// 10^6 bytes per second.
double MegabytesPerSecond(uint64_t bytes, int64_t elapsed_ns);

// 1.5 GiB
std::string FormatBytes(uint64_t bytes);

// 20 MS/s, of samples per second; "-" for 0.
std::string FormatSampleRate(double rate);

// 42%, of 0 to 1; "-" where it is unknown.
std::string FormatShare(std::optional<double> share);

// 2026-01-31T12:00:00Z; "-" for 0.
std::string FormatTime(std::optional<int64_t> time_ns);
// The same with as many digits of the second as it has.
std::string FormatExactTime(int64_t time_ns);

}  // namespace tapedeck::services::tapectl
