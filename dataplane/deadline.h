// Deadlines, and the pause before the next try. Deadlines have a type of their own, so that no code
// makes one of the wall clock.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

#include "absl/time/time.h"
#include "dataplane/now.h"

namespace tapedeck::dataplane {

// Waits for a time of the wall clock are no longer than this, and then look at it again: it may
// have stepped.
inline constexpr int64_t kWallLookNs = kSecondNs;

// A moment of the steady clock: steps of the machine's clock move it neither nearer nor away.
class Deadline {
 public:
  // Any duration: zero and less has passed already, absl::InfiniteDuration() never passes.
  static Deadline In(absl::Duration patience) { return Deadline(SteadyTime() + patience); }
  static Deadline Never() { return Deadline(absl::InfiniteFuture()); }

  bool passed() const { return left() <= absl::ZeroDuration(); }
  // Zero or less once it has passed.
  absl::Duration left() const { return at_ - SteadyTime(); }
  Deadline operator+(absl::Duration more) const { return Deadline(at_ + more); }

  friend std::strong_ordering operator<=>(const Deadline&, const Deadline&) = default;

 private:
  explicit Deadline(absl::Time at) : at_(at) {}

  absl::Time at_;  // of SteadyTime()
};

// The wait before the next try after so many failures in a row: none, `first`, then twice as long
// each time, `longest` at most. In the unit of `first`, which is a minute or less.
template <typename Time>
constexpr Time BackoffAfter(uint32_t failures, Time first, Time longest) {
  if (failures == 0) return Time();
  return std::min(first * (int64_t{1} << std::min(failures - 1, 20u)), longest);
}

}  // namespace tapedeck::dataplane
