// How far the clock of a session's other end is from this one's, measured as NTP does: from when a
// message was sent and heard, by either clock, and when the answer was. A measurement is right to
// half its round trip, however unequal the two ways are; away from it the clocks may drift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tapedeck::services::flight {

// Two clocks may drift apart by this much: the kernel never slews a clock by more than 500 ppm
// (adjtimex(2)), and quartz is ten times better. Less would call wrong what is not.
inline constexpr int64_t kDriftPpm = 500;

// What one message says of clocks, by that of its sender. Zeros: nothing.
struct ClockReading {
  int64_t sent_ns = 0;
  // Of the last message that came from the other end: its own sent_ns, and when it came.
  int64_t heard_sent_ns = 0;
  int64_t heard_ns = 0;
  bool operator==(const ClockReading&) const = default;
};

// The other clock less this one, somewhere within `uncertainty_ns` of `offset_ns`, at this time.
struct ClockSample {
  int64_t at_ns = 0;  // by this clock
  int64_t offset_ns = 0;
  int64_t uncertainty_ns = 0;
  bool operator==(const ClockSample&) const = default;
};

struct ClockOffset {
  int64_t offset_ns = 0;
  int64_t uncertainty_ns = 0;
};

// Where all the samples agree, at a time of this clock. None given: INT64_MAX uncertain.
ClockOffset OffsetAt(const std::vector<ClockSample>& samples, int64_t at_ns);

// One session's. Not thread-safe.
class PeerClock {
 public:
  // Samples that are kept: when there are more, every second of the older half goes.
  static constexpr size_t kMaxSamples = 256;

  // What goes with a message that is sent now.
  ClockReading Send(int64_t now_ns) const;
  // Of a message that came now.
  void Heard(const ClockReading& reading, int64_t now_ns);

  const std::vector<ClockSample>& samples() const { return samples_; }  // oldest first

 private:
  void Keep(const ClockSample& sample);

  int64_t heard_sent_ns_ = 0;
  int64_t heard_ns_ = 0;
  std::vector<ClockSample> samples_;
};

}  // namespace tapedeck::services::flight
