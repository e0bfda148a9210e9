#include "gpu_worker/stages/ingest/jumps.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tapedeck::gpu_worker::stages::ingest {

namespace {

// Packets that may be lost between two that agree.
constexpr int64_t kNearPackets = 16;
// Before so much has passed, the rate at which samples come is not known.
constexpr int64_t kMeasureNs = 10 * dataplane::kMillisecondNs;
// Before so much has passed, what was waiting in the kernel when the stream began looks like a
// rate.
constexpr int64_t kSureNs = 100 * dataplane::kMillisecondNs;

double Seconds(int64_t ns) { return static_cast<double>(ns) / dataplane::kSecondNs; }

}  // namespace

Jumps::Jumps(JumpsParts parts, Placement& placement, const dataplane::Clock& clock)
    : parts_(std::move(parts)), placement_(placement), clock_(clock) {
  begin_ns_ = caught_up_ns_ = last_taken_ns_ = arrived_after_ns_ = clock_.NowNs();
}

void Jumps::Place(int64_t told, std::span<const std::byte> samples) {
  const int64_t position = PositionOf(told);
  const int64_t count = CountOf(samples);
  if (GoesOn(position, count)) return Take(position, samples);
  const int64_t now_ns = clock_.NowNs();
  if (position < placement_.newest() || !IsPossible(position, now_ns)) {
    if (BeganAnew(position, count, now_ns)) return Restart(position, samples, now_ns);
    ++(position < placement_.newest() ? parts_.counts->late : parts_.counts->out_of_place);
    return;
  }
  if (held_.has_value() && held_->position == position) {
    ++parts_.counts->repeated;
    return;
  }
  if (AgreesWithHeld(position, count)) return TakeBoth(position, samples);
  if (now_ns - last_taken_ns_ < kSilentNs) return Hold(position, samples, now_ns);
  DropHeld();
  Take(position, samples);
}

int64_t Jumps::EndAt(int64_t told) {
  const int64_t end = PositionOf(told);
  if (end < placement_.newest() || !IsPossible(end, clock_.NowNs())) return placement_.newest();
  if (held_.has_value() && AgreesWithHeld(end, CountOf(held_->samples))) {
    const PendingPacket held = *std::exchange(held_, std::nullopt);
    Take(held.position, held.samples);
  }
  return end;
}

void Jumps::Finish() {
  if (!held_.has_value()) return;
  if (last_taken_ns_ > held_->came_ns) return DropHeld();
  const PendingPacket held = *std::exchange(held_, std::nullopt);
  Take(held.position, held.samples);
}

SoFar Jumps::SoFarNow() const {
  const int64_t now_ns = clock_.NowNs();
  return {.newest = placement_.newest() - offset_,
          .silent_ns = now_ns - arrived_after_ns_,
          .pace = std::max(RateSoFar(now_ns), fastest_)};
}

int64_t Jumps::CountOf(std::span<const std::byte> samples) const {
  return static_cast<int64_t>(samples.size() / parts_.sample_bytes);
}

// Into an open block, or from the newest sample on. The first packet is the stream's beginning.
bool Jumps::GoesOn(int64_t position, int64_t count) const {
  if (placement_.taken() == 0) return true;
  const int64_t end = position + count;
  const auto open = static_cast<int64_t>(Placement::kOpen * parts_.block_samples);
  return end > placement_.closed() &&
         (position <= placement_.newest() || end <= placement_.closed() + open);
}

// No more can be missing than was sent since the last packet that was taken arrived.
bool Jumps::IsPossible(int64_t position, int64_t now_ns) const {
  const auto block = static_cast<int64_t>(parts_.block_samples);
  if ((position - placement_.closed()) / block >= static_cast<int64_t>(Placement::kMostAhead)) {
    return false;
  }
  const double rate = std::max({parts_.sample_rate, RateSoFar(now_ns), fastest_});
  const double most = rate * Seconds(now_ns - arrived_after_ns_ + kMarginNs);
  const auto missing = static_cast<double>(position - placement_.newest());
  return missing <= std::max(most, static_cast<double>(kMarginBlocks * block));
}

// While nothing is taken, as where the node stands still, it falls.
double Jumps::RateSoFar(int64_t now_ns) const {
  return samples_taken_ / Seconds(now_ns - begin_ns_ + kMeasureNs);
}

bool Jumps::AgreesWithHeld(int64_t position, int64_t count) const {
  return held_.has_value() && std::abs(position - held_->position) <= Near(count);
}

int64_t Jumps::Near(int64_t count) const {
  return static_cast<int64_t>(Placement::kOpen * parts_.block_samples) + kNearPackets * count;
}

void Jumps::Take(int64_t position, std::span<const std::byte> samples) {
  if (placement_.taken() == 0) begin_ns_ = clock_.NowNs();
  const Placement::Outcome outcome = placement_.Place(position, samples);
  Count(outcome);
  if (outcome != Placement::Outcome::kTaken) return;
  last_taken_ns_ = clock_.NowNs();  // it may have waited for a slot
  samples_taken_ += static_cast<double>(CountOf(samples));
  if (last_taken_ns_ - begin_ns_ >= kSureNs) {
    fastest_ = std::max(fastest_, RateSoFar(last_taken_ns_));
  }
  arrived_after_ns_ = caught_up_ns_;
  if (held_.has_value() && held_->position < placement_.newest()) DropHeld();
}

void Jumps::TakeBoth(int64_t position, std::span<const std::byte> samples) {
  const PendingPacket held = *std::exchange(held_, std::nullopt);
  if (held.position < position) Take(held.position, held.samples);
  Take(position, samples);
  if (held.position > position) Take(held.position, held.samples);
}

void Jumps::Hold(int64_t position, std::span<const std::byte> samples, int64_t now_ns) {
  DropHeld();
  held_ = PendingPacket{.position = position,
                        .samples = std::vector<std::byte>(samples.begin(), samples.end()),
                        .came_ns = now_ns};
}

void Jumps::DropHeld() {
  if (!held_.has_value()) return;
  held_.reset();
  ++parts_.counts->out_of_place;
}

bool Jumps::BeganAnew(int64_t position, int64_t count, int64_t now_ns) {
  const bool follows = stray_.has_value() && position > stray_->position &&
                       position - stray_->position <= Near(count);
  stray_ = Stray{.position = position, .run = follows ? stray_->run + 1 : 1};
  return stray_->run >= kRestartRun && now_ns - last_taken_ns_ >= kRestartNs;
}

// The time that has passed is missing, as far as the rate is known.
void Jumps::Restart(int64_t position, std::span<const std::byte> samples, int64_t now_ns) {
  const auto block = static_cast<int64_t>(parts_.block_samples);
  const double passed = parts_.sample_rate * Seconds(now_ns - last_taken_ns_);
  const auto most = static_cast<double>(block * static_cast<int64_t>(Placement::kMostAhead / 2));
  const int64_t goes_on = placement_.newest() + static_cast<int64_t>(std::min(passed, most));
  const int64_t told = position - offset_;
  offset_ += goes_on - position;
  stray_.reset();
  DropHeld();
  if (++parts_.counts->restarts <= kMostRestarts) {
    parts_.restarted(static_cast<uint64_t>(goes_on), told);
  }
  Take(goes_on, samples);
}

void Jumps::Count(Placement::Outcome outcome) {
  using Outcome = Placement::Outcome;
  switch (outcome) {
    case Outcome::kTaken:
    case Outcome::kUnwanted:
      return;
    case Outcome::kRepeated:
      ++parts_.counts->repeated;
      return;
    case Outcome::kLate:
      ++parts_.counts->late;
      return;
    case Outcome::kFarAhead:
      ++parts_.counts->out_of_place;
      return;
    case Outcome::kScattered:
      ++parts_.counts->scattered;
      return;
  }
}

}  // namespace tapedeck::gpu_worker::stages::ingest
