#include "gpu_worker/pace/meter.h"

#include <algorithm>

namespace tapedeck::gpu_worker::pace {

void Meter::Gave(uint64_t samples, int64_t late_ns) {
  blocks_.fetch_add(1, std::memory_order_relaxed);
  samples_.fetch_add(samples, std::memory_order_relaxed);
  if (samples_per_s_ <= 0) return;
  const auto bound = std::ranges::lower_bound(kBoundsNs, late_ns);
  jitter_[static_cast<size_t>(bound - kBoundsNs.begin())].fetch_add(1, std::memory_order_relaxed);
  if (late_ns > worst_ns_) worst_ns_ = late_ns;
}

services::model::Timing Meter::timing() const {
  services::model::Timing timing{.samples_per_s = samples_per_s_,
                                 .blocks = blocks_,
                                 .samples = samples_,
                                 .turns = turns_,
                                 .underruns = underruns_,
                                 .worst_jitter_ns = worst_ns_,
                                 .first_time_ns = first_ns_};
  if (at_ns_ != 0 && first_ns_ != 0) timing.after_at_ns = first_ns_ - at_ns_;
  for (size_t i = 0; i < jitter_.size(); ++i) {
    const uint64_t blocks = jitter_[i];
    if (blocks == 0) continue;
    timing.jitter.push_back(
        {.up_to_ns = i < kBoundsNs.size() ? kBoundsNs[i] : 0, .blocks = blocks});
  }
  return timing;
}

}  // namespace tapedeck::gpu_worker::pace
