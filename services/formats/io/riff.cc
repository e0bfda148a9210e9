#include "services/formats/io/riff.h"

#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace tapedeck::services::formats {
namespace {

constexpr int64_t kMillisecondNs = 1'000'000;

}  // namespace

void AppendNumber(std::string* text, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    text->push_back(i < 8 ? static_cast<char>(value >> (8 * i)) : '\0');
}

uint64_t NumberAt(absl::string_view text, size_t at, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(text[at + static_cast<size_t>(i)]);
  }
  return value;
}

void AppendSystemTime(std::string* text, std::optional<int64_t> ns) {
  if (!ns.has_value()) {
    text->append(kSystemTimeBytes, '\0');
    return;
  }
  const absl::TimeZone::CivilInfo at = absl::UTCTimeZone().At(absl::FromUnixNanos(*ns));
  const absl::CivilSecond& second = at.cs;
  const auto monday_is_0 = static_cast<int>(absl::GetWeekday(second));
  for (const int64_t part :
       {second.year(), int64_t{second.month()}, int64_t{(monday_is_0 + 1) % 7},
        int64_t{second.day()}, int64_t{second.hour()}, int64_t{second.minute()},
        int64_t{second.second()}, absl::ToInt64Milliseconds(at.subsecond)}) {
    AppendNumber(text, static_cast<uint64_t>(part), 2);
  }
}

std::optional<int64_t> SystemTimeAt(absl::string_view text, size_t at) {
  const auto part = [&](size_t i) { return static_cast<int>(NumberAt(text, at + 2 * i, 2)); };
  const absl::CivilSecond second(part(0), part(1), part(3), part(4), part(5), part(6));
  // One that is not normal is of no calendar.
  const bool real = part(0) >= 1970 && part(0) < 2262 && second.month() == part(1) &&
                    second.day() == part(3) && second.hour() == part(4) &&
                    second.minute() == part(5) && second.second() == part(6) && part(7) < 1000;
  if (!real) return std::nullopt;
  return absl::ToUnixNanos(absl::FromCivil(second, absl::UTCTimeZone())) + part(7) * kMillisecondNs;
}

}  // namespace tapedeck::services::formats
