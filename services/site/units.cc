#include "services/site/units.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "dataplane/clock.h"
#include "services/model/job.h"

namespace tapedeck::services::tapectl {

namespace {

// Takes k, M or G off the end of a number: 1000, 10^6 or 10^9; else 1.
double TakeFactor(absl::string_view* number) {
  if (absl::ConsumeSuffix(number, "k") || absl::ConsumeSuffix(number, "K")) return 1e3;
  if (absl::ConsumeSuffix(number, "M")) return 1e6;
  return absl::ConsumeSuffix(number, "G") ? 1e9 : 1;
}

}  // namespace

absl::StatusOr<uint64_t> ParseCount(absl::string_view text) {
  absl::string_view number = text;
  const auto factor = static_cast<uint64_t>(TakeFactor(&number));
  uint64_t count = 0;
  if (absl::SimpleAtoi(number, &count) && count > 0 && count <= UINT64_MAX / factor) {
    return count * factor;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a whole number of 1 or more, for example 4096 or 2M"));
}

absl::StatusOr<int64_t> ParseNumber(absl::string_view text) {
  absl::string_view digits = text;
  const auto factor = static_cast<int64_t>(TakeFactor(&digits));
  int64_t number = 0;
  if (absl::SimpleAtoi(digits, &number) && number >= 0 && number <= INT64_MAX / factor) {
    return number * factor;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a whole number of 0 or more, for example 4096 or 2M"));
}

absl::StatusOr<double> ParseRate(absl::string_view text) {
  absl::string_view number = text;
  const double factor = TakeFactor(&number);
  double rate = 0;
  if (absl::SimpleAtod(number, &rate) && rate >= 0 && std::isfinite(rate * factor)) {
    return rate * factor;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text, "\" is not a rate: write samples per second, for example 2.4M or 1e9"));
}

absl::StatusOr<int64_t> ParseTimeNs(absl::string_view text) {
  absl::string_view ago = text;
  if (absl::ConsumePrefix(&ago, "-")) {
    const auto ns = ParseDurationNs(ago);
    if (ns.ok()) return dataplane::SystemClock().WallNs() - *ns;
  }
  absl::Time time;
  std::string why;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &why)) {
    const int64_t ns = absl::ToUnixNanos(time);
    // What 64 bits cannot count would be another time.
    if (absl::AbsDuration(time - absl::FromUnixNanos(ns)) < absl::Nanoseconds(1)) return ns;
  }
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

std::string FormatSampleRate(double rate) {
  if (rate == 0) return "-";
  if (rate < 1e3) return absl::StrFormat("%.15g S/s", rate);
  if (rate < 1e6) return absl::StrFormat("%.15g kS/s", rate / 1e3);
  if (rate < 1e9) return absl::StrFormat("%.15g MS/s", rate / 1e6);
  return absl::StrFormat("%.15g GS/s", rate / 1e9);
}

std::string FormatShare(std::optional<double> share) {
  return share.has_value() ? absl::StrFormat("%.0f%%", 100 * *share) : "-";
}

std::string FormatTime(std::optional<int64_t> time_ns) {
  if (!time_ns.has_value()) return "unknown";
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", absl::FromUnixNanos(*time_ns),
                          absl::UTCTimeZone());
}

std::string FormatExactTime(int64_t time_ns) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E*SZ", absl::FromUnixNanos(time_ns),
                          absl::UTCTimeZone());
}

}  // namespace tapedeck::services::tapectl
