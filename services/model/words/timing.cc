#include "services/model/words/timing.h"

#include <algorithm>

namespace tapedeck::services::model {

int64_t JitterOf(const Timing& timing, double share) {
  uint64_t all = 0;
  for (const JitterCount& count : timing.jitter) all += count.blocks;
  double below = 0;
  for (const JitterCount& count : timing.jitter) {
    below += static_cast<double>(count.blocks);
    if (below < share * static_cast<double>(all) || below == 0) continue;
    if (count.up_to_ns == 0) break;
    return std::min(count.up_to_ns, timing.worst_jitter_ns);
  }
  return timing.worst_jitter_ns;
}

}  // namespace tapedeck::services::model
