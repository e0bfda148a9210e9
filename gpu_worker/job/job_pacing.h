// What a job's spec says of samples and times: of a playback for the recording that it plays, of a
// group its start and its clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "gpu_worker/pace/clock_error.h"
#include "gpu_worker/pace/plan.h"
#include "services/model/recording/group.h"
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

// For the recording of a member.
services::model::RecordingGroup GroupOf(const services::model::GroupMember& member, int64_t at_ns,
                                        const pace::ClockError& clock);

// "begins by the system clock, which is off by at most 1.2 ms"
services::Note BeginNote(const pace::ClockError& clock);

// "member 2 of 4 of GROUP, by the system clock, which is off by at most 1.2 ms"
services::Note GroupNote(const services::model::GroupMember& member, const pace::ClockError& clock);

}  // namespace tapedeck::gpu_worker::job
