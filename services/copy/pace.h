// How fast blocks are copied, moved, compared or scrubbed, and whether that goes on. One thread
// that may wait.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dataplane/now.h"
#include "services/base/errors.h"

namespace tapedeck::services::copying {

// Of work that nobody waits for: a twentieth of a fast drive.
inline constexpr uint64_t kBackgroundRate = 100'000'000;

class Pace {
 public:
  // Bytes a second, after `done` bytes; 0: as fast as it goes; none: it ends.
  using Rate = std::function<std::optional<uint64_t>(uint64_t done)>;
  explicit Pace(Rate rate) : rate_(std::move(rate)) {}

  // Counts `bytes` as done and waits as long as they may take. Asks for the rate at least ten times
  // a second, and once in any case; one that has changed counts at once. CANCELLED (JOB_CANCELLED):
  // it ends.
  absl::Status Wait(uint64_t bytes) {
    done_ += bytes;
    const absl::Time begin = dataplane::SteadyTime();
    while (const std::optional<uint64_t> rate = rate_(done_)) {
      const absl::Duration time =
          *rate == 0 ? absl::ZeroDuration()
                     : absl::Seconds(static_cast<double>(bytes) / static_cast<double>(*rate));
      const absl::Duration left = begin + time - dataplane::SteadyTime();
      if (left <= absl::ZeroDuration()) return absl::OkStatus();
      absl::SleepFor(std::min(left, absl::Milliseconds(100)));
    }
    return JobCancelled();
  }

  uint64_t done() const { return done_; }

 private:
  const Rate rate_;
  uint64_t done_ = 0;
};

}  // namespace tapedeck::services::copying
