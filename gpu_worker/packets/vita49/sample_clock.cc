#include "gpu_worker/packets/vita49/sample_clock.h"

#include <cmath>

namespace tapedeck::gpu_worker::packets::vita49 {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t kPicoseconds = 1'000'000'000'000;
constexpr int64_t kNanoseconds = 1'000'000'000;
constexpr int kDigits = 53;  // of a double, before the exponent

}  // namespace

// A sample shifted by so much has 126 bits at most, as the lowest rate has 62 behind its point.
std::optional<SampleClock> SampleClock::Create(double rate, int64_t begin_ns) {
  if (!(rate >= kLeastRate && rate <= kMostRate)) return std::nullopt;
  int exponent = 0;
  const double digits = std::frexp(rate, &exponent);
  return SampleClock(static_cast<uint64_t>(std::ldexp(digits, kDigits)), kDigits - exponent,
                     begin_ns);
}

Time SampleClock::At(uint64_t sample) const {
  const Wide scaled = Wide{sample} << shift_;
  const Wide rest = scaled % numerator_;
  // 53 bits by 40: the nearest, which may be the whole second.
  auto picoseconds = static_cast<uint64_t>((rest * kPicoseconds + numerator_ / 2) / numerator_);
  int64_t seconds = begin_ns_ / kNanoseconds;
  int64_t nanoseconds = begin_ns_ % kNanoseconds;
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

}  // namespace tapedeck::gpu_worker::packets::vita49
