// Where the samples of each packet of a stream belong, by the packets' count and their times.
//
// Times are only as fine as a device tells them (10 ns, a microsecond, a millisecond) and its clock
// differs from the channel's rate; the count has 4 bits. So packets whose count goes on follow each
// other without a gap as long as their times say so within what they can tell: twice their grain,
// which is learnt from them, and 200 ppm. At a gap the count says how many packets are missing, the
// times how often it went round. Other times are a clock that was set, either way: the count alone
// counts then. A count that goes on behind a silence as long as the times say is a device that lost
// samples.
#pragma once

#include <cstdint>
#include <optional>

#include "services/signal/vita49/packet.h"

namespace tapedeck::services::vita49 {

// How the packet came, which bounds what can be missing before it.
struct Arrival {
  int64_t silent_ns = 0;  // since the packet before it arrived
  double pace = 0;        // samples a second that come, where these are more than the rate
};

// Of a packet with samples.
struct Stamp {
  uint32_t count = 0;  // 4 bits
  Time time;
  int64_t samples = 0;
  Arrival arrival;
};

struct Place {
  int64_t position = 0;  // of its first sample; negative: before the stream's first
  // The device's clock was set by so many seconds, just before this packet.
  std::optional<double> step_s;
};

// Within a millionth: a rate is told in fixed point.
bool IsSameRate(long double one, long double other);

// One thread.
class StreamClock {
 public:
  explicit StreamClock(long double rate) : rate_(rate) {}

  // Of a packet as it came; the first one has the position 0. None: its time is of another kind
  // than the first one's, further away than any clock's, or it has none.
  std::optional<Place> PlaceOf(const Stamp& stamp);

  // Where a context of that time begins to hold; a time that no sample of the stream can have yet
  // is that of the next sample. None: it is of another kind, or nothing has come.
  std::optional<int64_t> PositionOf(const Time& time, const Arrival& arrival) const;

  // From the next packet on. A rate that no sample clock has (see SampleClock) changes nothing.
  void SetRate(long double rate);
  long double rate() const { return rate_; }

  // By how much the times run ahead of the samples, in parts per million, where it is more than a
  // sound clock's 200 and than the grain of the times; else 0.
  double DriftPpm() const;

 private:
  struct Known {
    uint32_t count = 0;
    Time time;
    int64_t position = 0;
    int64_t samples = 0;
  };

  void LearnGrain(const Time& time);
  int64_t Slack() const;
  bool IsPossible(int64_t position, const Arrival& arrival, int64_t margin_ns) const;
  // The position of the packet that comes so many after the newest and one more; negative: before.
  int64_t After(int64_t packets) const;
  int64_t NextPosition() const { return After(0); }
  // Of the count: how often it went round over so many samples.
  int64_t RoundsOf(int64_t samples) const;
  bool AreRounds(int64_t samples) const;
  int64_t Tolerance(int64_t near) const;
  bool WasSilent(const Arrival& arrival, int64_t gap) const;
  bool WasSet(const Stamp& stamp, int64_t near, int64_t told) const;
  int64_t ByCountAndTime(const Stamp& stamp, int64_t near, int64_t told);
  int64_t HeldToAnchor(const Stamp& stamp, int64_t position);
  std::optional<Place> Far(const Stamp& stamp, int64_t near, int64_t told);
  void Note(const Stamp& stamp, int64_t position);

  long double rate_;
  std::optional<Known> newest_;
  Known origin_;  // the first packet since the clock was set, or the rate changed
  Known anchor_;  // the long view: steps from packet to packet hide a slow change
  std::optional<Known> stray_;
  int64_t most_samples_ = 0;  // of a packet
  uint64_t grain_ = 0;        // of the times' fractions: their greatest common divisor
  bool counts_ = false;       // the count is not always the same
  bool new_rate_ = false;     // since the newest packet
};

}  // namespace tapedeck::services::vita49
