#include "services/signal/vita49/stream_clock.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "services/signal/vita49/sample_clock.h"

namespace tapedeck::services::vita49 {
namespace {

constexpr int64_t kRound = 16;  // packets after which the count begins again
constexpr uint64_t kPicosecondsPerSecond = 1'000'000'000'000;
constexpr int64_t kNsPerSecond = 1'000'000'000;
// Of a device's clock against the channel's rate; a dongle without a reference has 100.
constexpr long double kMostDrift = 200e-6L;
// Beyond the silence before a packet: clocks differ, and so do packets on their way.
constexpr int64_t kMarginNs = kNsPerSecond;
// The same where the count goes on: of 16 losses one would look so, and of clocks that are set all.
constexpr int64_t kMarginInOrderNs = kNsPerSecond / 50;
// Sample positions beyond it are nobody's: a hundred years at 300 MS/s.
constexpr int64_t kFarthest = 1'000'000'000'000'000'000;
// So many packets a packet may come behind later ones, where times cannot tell.
constexpr int64_t kMostLate = 3;
// Where the count goes on, that part of a packet is a clock that runs badly, and neither one that
// was set nor a loss.
constexpr int64_t kMostSkew = 64;
// Packets take different times on their way, also those around a silence.
constexpr long double kMostOfGap = 0.75L;

}  // namespace

bool IsSameRate(long double one, long double other) {
  return std::fabs(one - other) <= std::fabs(one) * 1e-6L;
}

std::optional<Place> StreamClock::PlaceOf(const Stamp& stamp) {
  LearnGrain(stamp.time);
  most_samples_ = std::max(most_samples_, stamp.samples);
  if (!newest_.has_value()) {
    if (stamp.time.kind == Fraction::kNone) return std::nullopt;
    newest_ = anchor_ = origin_ = {stamp.count, stamp.time, 0, stamp.samples};
    return Place{};
  }
  const auto between = SamplesBetween(newest_->time, stamp.time, rate_);
  if (!between.has_value()) return std::nullopt;
  const int64_t told = newest_->position + *between;
  if (std::abs(told) > kFarthest) return std::nullopt;
  counts_ = counts_ || stamp.count != newest_->count;
  if (!counts_) {
    Note(stamp, told);
    return Place{.position = told};
  }
  const int64_t ahead = (int64_t{stamp.count} - newest_->count - 1) & (kRound - 1);
  const int64_t near = ahead < kRound - kMostLate ? ahead : ahead - kRound;
  if (WasSet(stamp, near, told)) return Far(stamp, near, told);
  const int64_t position = ByCountAndTime(stamp, near, told);
  const int64_t margin_ns = near == 0 ? kMarginInOrderNs : kMarginNs;
  if (!IsPossible(position, stamp.arrival, margin_ns)) return Far(stamp, near, told);
  Note(stamp, position);
  return Place{.position = position};
}

std::optional<int64_t> StreamClock::PositionOf(const Time& time, const Arrival& arrival) const {
  if (!newest_.has_value()) return std::nullopt;
  const auto between = SamplesBetween(newest_->time, time, rate_);
  if (!between.has_value()) return std::nullopt;
  const int64_t position = newest_->position + *between;
  return IsPossible(position, arrival, kMarginNs) ? position : NextPosition();
}

void StreamClock::SetRate(long double rate) {
  if (!(rate >= SampleClock::kLeastRate && rate <= SampleClock::kMostRate)) return;
  new_rate_ = new_rate_ || (newest_.has_value() && !IsSameRate(rate, rate_));
  rate_ = rate;
}

double StreamClock::DriftPpm() const {
  if (!newest_.has_value() || GoesRound(newest_->time)) return 0;
  const auto told = SamplesBetween(origin_.time, newest_->time, rate_);
  const int64_t passed = newest_->position - origin_.position;
  if (!told.has_value() || passed <= 0) return 0;
  const auto drift = static_cast<long double>(*told - passed);
  const long double sound =
      static_cast<long double>(2 * Slack()) + kMostDrift * static_cast<long double>(passed);
  if (std::fabs(drift) <= sound) return 0;
  return static_cast<double>(drift / static_cast<long double>(passed) * 1e6L);
}

void StreamClock::LearnGrain(const Time& time) {
  if (time.kind == Fraction::kPicoseconds) grain_ = std::gcd(grain_, time.fraction);
}

// Two times are each told to a grain, and each number of samples is rounded. While all fractions
// are 0, they may have a grain of a second.
int64_t StreamClock::Slack() const {
  if (newest_->time.kind != Fraction::kPicoseconds) return 1;
  const uint64_t grain =
      grain_ == 0 ? kPicosecondsPerSecond : std::min(grain_, kPicosecondsPerSecond);
  return static_cast<int64_t>(std::ceil(static_cast<long double>(grain) * rate_ / 1e12L)) + 1;
}

bool StreamClock::IsPossible(int64_t position, const Arrival& arrival, int64_t margin_ns) const {
  const long double rate = std::max<long double>(rate_, arrival.pace);
  const auto samples = [&](int64_t ns) { return rate * static_cast<long double>(ns) / 1e9L; };
  const auto from_next = static_cast<long double>(position - NextPosition());
  const auto slack = static_cast<long double>(Slack() + kRound * most_samples_);
  return from_next <= samples(arrival.silent_ns + margin_ns) + slack &&
         -from_next <= samples(margin_ns) + slack;
}

int64_t StreamClock::After(int64_t packets) const {
  if (packets < 0) return newest_->position + (packets + 1) * most_samples_;
  return newest_->position + newest_->samples + packets * most_samples_;
}

int64_t StreamClock::RoundsOf(int64_t samples) const {
  return std::llround(static_cast<long double>(samples) /
                      static_cast<long double>(kRound * most_samples_));
}

bool StreamClock::AreRounds(int64_t samples) const {
  return std::abs(samples - RoundsOf(samples) * kRound * most_samples_) <= Slack();
}

// What the times may differ from the count, of a packet that is so many behind the newest.
int64_t StreamClock::Tolerance(int64_t near) const {
  return Slack() + (near == 0 ? newest_->samples / kMostSkew : 0);
}

// Whether the stream was silent before the packet for most of a gap of so many samples.
bool StreamClock::WasSilent(const Arrival& arrival, int64_t gap) const {
  const long double rate = std::max<long double>(rate_, arrival.pace);
  const long double silent = rate * static_cast<long double>(arrival.silent_ns) / 1e9L;
  return silent - static_cast<long double>(newest_->samples) >= kMostOfGap * gap;
}

// The device's clock, by little, so that the times alone would be of a loss, or of a packet that
// comes late. A device that loses samples before it counts packets is silent for as long.
bool StreamClock::WasSet(const Stamp& stamp, int64_t near, int64_t told) const {
  const int64_t away = told - After(near);
  if (new_rate_ || near < 0 || std::abs(away) <= Tolerance(near)) return false;
  const bool are_rounds = AreRounds(away);
  if (near > 0) return !are_rounds && told < NextPosition();
  const bool tells_rounds = most_samples_ >= Slack();  // else any time is near one
  if (are_rounds && tells_rounds) return false;
  return away < 0 || !WasSilent(stamp.arrival, away);
}

int64_t StreamClock::ByCountAndTime(const Stamp& stamp, int64_t near, int64_t told) {
  const int64_t by_count = After(near);
  if (new_rate_ && near >= 0) return by_count;
  if (std::abs(told - by_count) <= Tolerance(near)) return HeldToAnchor(stamp, by_count);
  if (!AreRounds(told - by_count)) return told;
  return by_count + RoundsOf(told - by_count) * kRound * most_samples_;
}

// As far as the times since the anchor agree: else whole rounds of the count are missing, which
// times of a coarse grain do not tell at once, or the clock drifts.
int64_t StreamClock::HeldToAnchor(const Stamp& stamp, int64_t position) {
  const auto between = SamplesBetween(anchor_.time, stamp.time, rate_);
  if (!between.has_value()) return position;
  const int64_t away = anchor_.position + *between - position;
  const auto passed = static_cast<long double>(position - anchor_.position);
  const auto bound = static_cast<long double>(2 * Slack()) + kMostDrift * passed;
  if (std::fabs(static_cast<long double>(away)) <= bound) return position;
  anchor_ = {stamp.count, stamp.time, position, stamp.samples};
  return position + std::max<int64_t>(RoundsOf(away), 0) * kRound * most_samples_;
}

// The device's clock was set, or the packet is none of these. Where its count goes on, it belongs
// here; else the next one has to agree.
std::optional<Place> StreamClock::Far(const Stamp& stamp, int64_t near, int64_t told) {
  const auto since_stray =
      stray_.has_value() ? SamplesBetween(stray_->time, stamp.time, rate_) : std::nullopt;
  const bool agrees = since_stray.has_value() &&
                      stamp.count == ((stray_->count + 1) & (kRound - 1)) &&
                      std::abs(*since_stray - stray_->samples) <= Slack();
  if (near != 0 && !agrees) {
    stray_ = Known{stamp.count, stamp.time, told, stamp.samples};
    return Place{.position = told};
  }
  const int64_t position = After(near < 0 ? near + kRound : near);
  newest_ = anchor_ = origin_ = {stamp.count, stamp.time, position, stamp.samples};
  stray_.reset();
  return Place{.position = position,
               .step_s = static_cast<double>(static_cast<long double>(told - position) / rate_)};
}

void StreamClock::Note(const Stamp& stamp, int64_t position) {
  if (position <= newest_->position) return;
  const Known now{stamp.count, stamp.time, position, stamp.samples};
  const auto passed = static_cast<long double>(position - anchor_.position);
  const bool is_gap = position != NextPosition();
  if (new_rate_ || is_gap || kMostDrift * passed > static_cast<long double>(2 * Slack())) {
    anchor_ = now;
  }
  if (new_rate_) origin_ = now;
  newest_ = now;
  new_rate_ = false;
}

}  // namespace tapedeck::services::vita49
