// How a playback goes to its sink, where it is not just as it comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "gpu_worker/pace/meter.h"
#include "services/model/words/timing.h"

namespace tapedeck::gpu_worker::pace {

// A value; shares the meter with the job.
struct Plan {
  double samples_per_s = 0;  // 0: as fast as they come
  int64_t at_ns = 0;         // when the first goes, UTC; 0: as soon as it can
  // Which samples; none: all that come. Unless it loops, a first of 0 is the first one that there
  // is; an end of UINT64_MAX is where the recording has its own.
  std::optional<services::model::SampleRange> range;
  bool loop = false;        // the range again and again
  uint64_t loop_count = 0;  // 0: for ever
  size_t prefill = 1;  // blocks that are there before the first goes, so that none after it is late
  std::shared_ptr<Meter> meter;
};

}  // namespace tapedeck::gpu_worker::pace
