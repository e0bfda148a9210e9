#include "services/signal/sigmf/datetime.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/time/time.h"

namespace tapedeck::services::sigmf {
namespace {

// What is added to it for the samples does not overflow.
constexpr int64_t kLatestNs = int64_t{1} << 62;
constexpr int64_t kSecondNs = 1'000'000'000;

}  // namespace

std::optional<Datetime> ParseDatetime(std::string text) {
  constexpr char kWithoutZone[] = "%Y-%m-%d%ET%H:%M:%E*S";
  constexpr size_t kDateBytes = 10;
  if (text.size() > kDateBytes && text[kDateBytes] == ' ') text[kDateBytes] = 'T';
  std::ranges::replace(text, ',', '.');
  Datetime out;
  constexpr size_t kSecondsAt = 17;
  out.leap = text.size() >= kSecondsAt + 2 && text.compare(kSecondsAt, 2, "60") == 0;
  if (out.leap) text.replace(kSecondsAt, 2, "59");  // else absl drops its fraction
  absl::Time time;
  out.zoned = absl::ParseTime(absl::RFC3339_full, text, &time, nullptr);
  if (!out.zoned && !absl::ParseTime(kWithoutZone, text, absl::UTCTimeZone(), &time, nullptr)) {
    return std::nullopt;
  }
  if (time >= absl::FromUnixNanos(kLatestNs) || time <= absl::FromUnixNanos(-kLatestNs)) {
    return std::nullopt;
  }
  out.time_ns = absl::ToUnixNanos(time) + (out.leap ? kSecondNs : 0);
  out.grain_ns = kSecondNs;
  for (size_t at = text.find('.') + 1; at > 0 && at < text.size() && absl::ascii_isdigit(text[at]);
       ++at) {
    out.grain_ns = std::max<int64_t>(out.grain_ns / 10, 1);
  }
  return out;
}

}  // namespace tapedeck::services::sigmf
