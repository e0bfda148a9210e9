#include "services/observe/flight/peer_clock.h"

#include <algorithm>
#include <cstdlib>

namespace tapedeck::services::flight {
namespace {

// A clock is read before or after what it stands for, but not by more.
constexpr int64_t kReadingNs = 1'000;

int64_t DriftIn(int64_t ns) { return ns / 1'000'000 * kDriftPpm + kReadingNs; }

}  // namespace

ClockOffset OffsetAt(const std::vector<ClockSample>& samples, int64_t at_ns) {
  if (samples.empty()) return {.uncertainty_ns = INT64_MAX};
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
  ClockOffset best{.uncertainty_ns = INT64_MAX};
  for (const ClockSample& sample : samples) {
    const int64_t within = sample.uncertainty_ns + DriftIn(std::abs(at_ns - sample.at_ns));
    low = std::max(low, sample.offset_ns - within);
    high = std::min(high, sample.offset_ns + within);
    if (within < best.uncertainty_ns) best = {sample.offset_ns, within};
  }
  // They contradict each other where a clock was set, which monotonic ones are not: the best alone.
  if (low > high) return best;
  return {.offset_ns = low + (high - low) / 2, .uncertainty_ns = (high - low + 1) / 2};
}

ClockReading PeerClock::Send(int64_t now_ns) const {
  return {.sent_ns = now_ns, .heard_sent_ns = heard_sent_ns_, .heard_ns = heard_ns_};
}

void PeerClock::Heard(const ClockReading& reading, int64_t now_ns) {
  if (reading.sent_ns == 0) return;
  heard_sent_ns_ = reading.sent_ns;
  heard_ns_ = now_ns;
  const int64_t away_ns = now_ns - reading.heard_sent_ns;
  const int64_t held_ns = reading.sent_ns - reading.heard_ns;
  if (reading.heard_sent_ns == 0 || away_ns < 0 || held_ns < 0) return;
  const int64_t there_ns = reading.heard_ns - reading.heard_sent_ns;
  const int64_t back_ns = reading.sent_ns - now_ns;
  const int64_t round_trip_ns = std::max<int64_t>(away_ns - held_ns, 0);
  Keep({.at_ns = now_ns - away_ns / 2,
        .offset_ns = back_ns + (there_ns - back_ns) / 2,
        .uncertainty_ns = round_trip_ns / 2 + DriftIn(away_ns)});
}

void PeerClock::Keep(const ClockSample& sample) {
  if (samples_.size() == kMaxSamples) {
    size_t kept = 0;
    for (size_t i = 0; i < samples_.size(); ++i) {
      if (i >= kMaxSamples / 2 || i % 2 == 0) samples_[kept++] = samples_[i];
    }
    samples_.resize(kept);
  }
  samples_.push_back(sample);
}

}  // namespace tapedeck::services::flight
