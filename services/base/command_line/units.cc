#include "services/base/command_line/units.h"

#include <cmath>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace tapedeck::services::command_line {
namespace {

constexpr std::pair<absl::string_view, double> kByteUnits[] = {{"", 1},
                                                               {"B", 1},
                                                               {"KiB", 1024.0},
                                                               {"MiB", 1024.0 * 1024},
                                                               {"GiB", 1024.0 * 1024 * 1024},
                                                               {"TiB", 1024.0 * 1024 * 1024 * 1024},
                                                               {"K", 1024.0},
                                                               {"M", 1024.0 * 1024},
                                                               {"G", 1024.0 * 1024 * 1024},
                                                               {"T", 1024.0 * 1024 * 1024 * 1024},
                                                               {"kB", 1e3},
                                                               {"MB", 1e6},
                                                               {"GB", 1e9},
                                                               {"TB", 1e12}};

}  // namespace

absl::StatusOr<uint64_t> ParseBytes(absl::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789.");
  const absl::string_view number = text.substr(0, digits);
  const absl::string_view unit =
      digits == absl::string_view::npos ? absl::string_view() : text.substr(digits);
  double value = 0;
  for (const auto& [name, factor] : kByteUnits) {
    if (unit != name || !absl::SimpleAtod(number, &value)) continue;
    const double bytes = value * factor;
    if (bytes < 0x1p63 && bytes == std::floor(bytes)) return static_cast<uint64_t>(bytes);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a size: write for example 4096, 64KiB, 1M or 10GiB"));
}

std::string BytesText(uint64_t bytes) {
  constexpr absl::string_view kUnits[] = {"", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return absl::StrCat(bytes, kUnits[unit]);
}

absl::StatusOr<int64_t> ParseDurationNs(absl::string_view text) {
  absl::Duration duration;
  if (absl::ParseDuration(text, &duration) && duration > absl::ZeroDuration() &&
      duration <= absl::Hours(24 * 365)) {
    return absl::ToInt64Nanoseconds(duration);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a duration: write for example 250ms, 10s or 1m30s"));
}

absl::StatusOr<int64_t> ParseDurationOrZeroNs(absl::string_view text) {
  absl::Duration duration;
  if (absl::ParseDuration(text, &duration) && duration == absl::ZeroDuration()) return 0;
  return ParseDurationNs(text);
}

}  // namespace tapedeck::services::command_line
