// What a playback's spec says of samples and times, for the recording that it plays.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "gpu_worker/pace/plan.h"
#include "services/model/seams/catalog.h"
#include "services/model/seams/jobs.h"

namespace tapedeck::gpu_worker::job {

// None: all blocks go as they come. `slots` are those of the job's ring. INVALID_ARGUMENT
// (ARGUMENT_INVALID) for a rate where the recording has none, for blocks that last more than an
// hour, and for a loop that is too long for memory.
absl::StatusOr<std::optional<pace::Plan>> PlanPace(const services::PlaybackSpec& spec,
                                                   const services::Recording& recording,
                                                   size_t slots);

// Where the storage node begins: a loop has its own beginning.
services::model::Playhead PlayheadOf(const services::PlaybackSpec& spec);

}  // namespace tapedeck::gpu_worker::job
