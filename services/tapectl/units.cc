#include "services/tapectl/units.h"

#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "services/model/job.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr std::pair<absl::string_view, double> kByteUnits[] = {{"", 1},
                                                               {"B", 1},
                                                               {"KiB", 1024.0},
                                                               {"MiB", 1024.0 * 1024},
                                                               {"GiB", 1024.0 * 1024 * 1024},
                                                               {"TiB", 1024.0 * 1024 * 1024 * 1024},
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
      absl::StrCat("\"", text, "\" is not a size: write for example 4096, 64KiB, 1MiB or 10GiB"));
}

absl::StatusOr<uint64_t> ParseCount(absl::string_view text) {
  uint64_t count = 0;
  if (absl::SimpleAtoi(text, &count) && count > 0) return count;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a whole number of 1 or more"));
}

absl::StatusOr<double> ParseRate(absl::string_view text) {
  double rate = 0;
  if (absl::SimpleAtod(text, &rate) && rate >= 0 && std::isfinite(rate)) return rate;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a rate: write samples per second, for example 1e9"));
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
  if (text == "0") return 0;
  return ParseDurationNs(text);
}

absl::StatusOr<int64_t> ParseTimeNs(absl::string_view text) {
  absl::string_view ago = text;
  if (absl::ConsumePrefix(&ago, "-")) {
    const auto ns = ParseDurationNs(ago);
    if (ns.ok()) return absl::GetCurrentTimeNanos() - *ns;
  }
  absl::Time time;
  std::string why;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &why)) return absl::ToUnixNanos(time);
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text, "\" is not a time: write for example 2026-01-31T12:00:00Z, or -30s"));
}

double MegabytesPerSecond(uint64_t bytes, int64_t elapsed_ns) {
  // Rounded to a kilobyte: more digits are noise.
  return std::round(model::MegabytesPerSecond(bytes, elapsed_ns) * 1e3) / 1e3;
}

std::string FormatBytes(uint64_t bytes) {
  constexpr absl::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? absl::StrCat(bytes, " B") : absl::StrFormat("%.4g %s", value, kUnits[unit]);
}

std::string FormatTime(int64_t time_ns) {
  if (time_ns == 0) return "-";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixNanos(time_ns), absl::UTCTimeZone());
}

}  // namespace tapedeck::services::tapectl
