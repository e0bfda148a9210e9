// The time of each sample of a stream, to the nearest picosecond: of the stream's begin and the
// number of the sample alone, in whole numbers, so that no error grows with the stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "services/signal/vita49/packet.h"

namespace tapedeck::services::vita49 {

// A value.
class SampleClock {
 public:
  // Samples of a second. At a lower rate the whole numbers are too long; at a higher one a
  // picosecond no longer tells two samples apart.
  static constexpr double kLeastRate = 0.001;
  static constexpr double kMostRate = 1e11;

  // `begin_ns` is when the sample 0 was taken, UTC; none: unknown. None: the rate is beyond these.
  static std::optional<SampleClock> Create(double rate, std::optional<int64_t> begin_ns);

  // Seconds since 1970 and picoseconds; if the begin is unknown, a free count of samples. Below
  // 2^63, and where WhyNoTimes knows nothing against it.
  Time At(uint64_t sample) const;

 private:
  SampleClock(uint64_t numerator, int shift, std::optional<int64_t> begin_ns)
      : numerator_(numerator), shift_(shift), begin_ns_(begin_ns) {}

  // The rate is numerator / 2^shift, exactly.
  uint64_t numerator_;
  int shift_;
  std::optional<int64_t> begin_ns_;
};

// Why packets cannot tell the times of so many samples, the first of the time `begin_ns`: they have
// 32 bits for the seconds since 1970. It goes on behind a word for the packets. Empty: they can, as
// where nobody knows the begin.
std::string WhyNoTimes(std::optional<int64_t> begin_ns, uint64_t samples, double rate);

// It tells no second, but the picoseconds of one.
bool GoesRound(const Time& time);

// How many samples the second time is behind the first; negative: before it. None: their times are
// of different kinds or none, or further apart than a clock that is right could say.
// Of times that go round the second is less than 0.9 s behind the first, or up to 0.1 s before it.
std::optional<int64_t> SamplesBetween(const Time& begin, const Time& time, long double rate);

// Seconds of UTC and a fraction that samples or picoseconds count.
bool IsUtc(const Time& time);

// The time in nanoseconds since 1970. None: it is not UTC.
std::optional<int64_t> NanosecondsOf(const Time& time, long double rate);

// Of the samples of a packet of that time: which of them, counted from 0, is the first at the
// instant, UTC, or after it. Negative: it would be so many before the packet's first. None: the
// time is not UTC, or further away than a clock that is right could say.
std::optional<int64_t> FirstSampleFrom(int64_t instant_ns, const Time& time, long double rate);

}  // namespace tapedeck::services::vita49
