#include "services/signal/vita49/sample_clock.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "services/model/recording/sample_time.h"

namespace tapedeck::services::vita49 {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t kPicoseconds = 1'000'000'000'000;
constexpr int64_t kNanoseconds = 1'000'000'000;
// Where times tell a fraction of a second alone: a packet that comes later than that is taken for
// one of the second behind it.
constexpr long double kMostLateSeconds = 0.1L;
constexpr int64_t kEndOfSeconds = int64_t{1} << 32;
constexpr int kDigits = 53;  // of a double, before the exponent
// Of a distance: what a clock that is wrong, or a forged packet, says is not so far away.
constexpr long double kMostSamples = 1e18L;

std::string Instant(int64_t ns) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", absl::FromUnixNanos(ns), absl::UTCTimeZone());
}

}  // namespace

// Times are told to a picosecond: a sample that is due at an instant may be told as before it.
constexpr long double kToldWithin = 1e-12L;

// A sample shifted by so much has 126 bits at most, as the lowest rate has 62 behind its point.
std::optional<SampleClock> SampleClock::Create(double rate, std::optional<int64_t> begin_ns) {
  if (!(rate >= kLeastRate && rate <= kMostRate)) return std::nullopt;
  int exponent = 0;
  const double digits = std::frexp(rate, &exponent);
  return SampleClock(static_cast<uint64_t>(std::ldexp(digits, kDigits)), kDigits - exponent,
                     begin_ns);
}

Time SampleClock::At(uint64_t sample) const {
  if (!begin_ns_.has_value()) return {.kind = Fraction::kFreeCount, .fraction = sample};
  const Wide scaled = Wide{sample} << shift_;
  const Wide rest = scaled % numerator_;
  // 53 bits by 40: the nearest, which may be the whole second.
  auto picoseconds = static_cast<uint64_t>((rest * kPicoseconds + numerator_ / 2) / numerator_);
  int64_t seconds = *begin_ns_ / kNanoseconds;
  int64_t nanoseconds = *begin_ns_ % kNanoseconds;
  if (nanoseconds < 0) {
    nanoseconds += kNanoseconds;
    --seconds;
  }
  picoseconds += static_cast<uint64_t>(nanoseconds) * (kPicoseconds / kNanoseconds);
  const auto whole = static_cast<uint64_t>(seconds) + static_cast<uint64_t>(scaled / numerator_);
  return {.has_seconds = true,
          .seconds = static_cast<uint32_t>(whole + picoseconds / kPicoseconds),
          .kind = Fraction::kPicoseconds,
          .fraction = picoseconds % kPicoseconds};
}

std::string WhyNoTimes(std::optional<int64_t> begin_ns, uint64_t samples, double rate) {
  if (!begin_ns.has_value()) return "";
  const uint64_t behind = std::max<uint64_t>(samples, 1) - 1;
  const auto last_ns = model::TimeAfter(begin_ns, behind, rate);
  constexpr int64_t kEndNs = kEndOfSeconds * kNanoseconds;
  if (*begin_ns >= 0 && last_ns.has_value() && *last_ns < kEndNs) return "";
  return absl::StrCat("have times from ", Instant(0), " to ", Instant(kEndNs - kNanoseconds),
                      ", and these samples are from ", Instant(*begin_ns), " to ",
                      last_ns.has_value() ? Instant(*last_ns) : "later than 2116");
}

std::optional<int64_t> SamplesBetween(const Time& begin, const Time& time, long double rate) {
  if (time.kind == Fraction::kNone || time.kind != begin.kind ||
      time.has_seconds != begin.has_seconds || time.gps != begin.gps) {
    return std::nullopt;
  }
  const auto fraction =
      static_cast<long double>(static_cast<int64_t>(time.fraction - begin.fraction));
  const auto seconds = static_cast<long double>(int64_t{time.seconds} - begin.seconds);
  long double samples = fraction;
  if (time.kind == Fraction::kPicoseconds) samples = (seconds * 1e12L + fraction) * rate / 1e12L;
  if (time.kind == Fraction::kSamples) samples = seconds * rate + fraction;
  if (GoesRound(time)) samples -= std::floor(samples / rate + kMostLateSeconds) * rate;
  if (!(std::fabs(samples) <= kMostSamples)) return std::nullopt;
  return std::llround(samples);
}

bool GoesRound(const Time& time) {
  return !time.has_seconds && time.kind == Fraction::kPicoseconds && time.fraction < kPicoseconds;
}

bool IsUtc(const Time& time) {
  return time.has_seconds && !time.gps &&
         (time.kind == Fraction::kSamples || time.kind == Fraction::kPicoseconds);
}

std::optional<int64_t> NanosecondsOf(const Time& time, long double rate) {
  if (!IsUtc(time)) return std::nullopt;
  const auto fraction = static_cast<long double>(time.fraction);
  const long double within =
      time.kind == Fraction::kSamples ? fraction / rate : fraction / kPicoseconds;
  if (!(within <= kMostSamples / kNanoseconds)) return std::nullopt;
  return int64_t{time.seconds} * kNanoseconds + std::llround(within * kNanoseconds);
}

std::optional<int64_t> FirstSampleFrom(int64_t instant_ns, const Time& time, long double rate) {
  if (!IsUtc(time)) return std::nullopt;
  const bool counts = time.kind == Fraction::kSamples;
  const int64_t seconds = instant_ns / kNanoseconds - int64_t{time.seconds};
  const auto rest = static_cast<long double>(instant_ns % kNanoseconds) / kNanoseconds;
  const auto fraction = static_cast<long double>(time.fraction);
  const long double samples = (static_cast<long double>(seconds) + rest) * rate -
                              (counts ? fraction : fraction * rate / kPicoseconds);
  if (!(std::fabs(samples) <= kMostSamples)) return std::nullopt;
  return static_cast<int64_t>(std::ceil(samples - rate * kToldWithin));
}

}  // namespace tapedeck::services::vita49
