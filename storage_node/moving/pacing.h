// How fast a recording is moved, and whether it is to go on. One thread that may wait.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "services/copy/pace.h"

namespace tapedeck::storage_node::moving {

// What a scrub reads unless it is told, too: a twentieth of a fast drive.
inline constexpr uint64_t kDefaultRate = 100'000'000;

// So many bytes a second; none: it is not to go on.
using RateNow = std::function<std::optional<uint64_t>()>;

class Pacing {
 public:
  // `rate` is asked again and again; one that has changed counts at once. 0: kDefaultRate.
  explicit Pacing(RateNow rate) : rate_(std::move(rate)) {}

  // As long as reading so much may take. CANCELLED: it is not to go on.
  absl::Status Wait(uint64_t bytes) {
    bool changed = false;
    uint64_t seen = paced_;
    const auto go_on = [&] {
      const std::optional<uint64_t> now = rate_();
      changed = now.has_value() && *now != paced_;
      if (changed) seen = *now;
      return now.has_value() && !changed;
    };
    while (!pace_.Wait(bytes, go_on)) {
      if (!changed) return absl::CancelledError("the move is not to go on");
      paced_ = seen;
      pace_ = services::copying::Pace(paced_ == 0 ? kDefaultRate : paced_);
    }
    return absl::OkStatus();
  }

 private:
  const RateNow rate_;
  uint64_t paced_ = 0;  // what `pace_` was made for
  services::copying::Pace pace_{kDefaultRate};
};

}  // namespace tapedeck::storage_node::moving
