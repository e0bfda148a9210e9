// What a job of a group says of its start and its clock.
#pragma once

#include <cstdint>

#include "gpu_worker/pace/clock_error.h"
#include "services/model/recording/group.h"
#include "services/model/seams/jobs.h"

namespace tapedeck::gpu_worker::job {

// Of the recording.
services::model::RecordingGroup GroupOf(const services::model::GroupMember& member, int64_t at_ns,
                                        const pace::ClockError& clock);

// "begins by the system clock, which is off by at most 1.2 ms"
services::Note BeginNote(const pace::ClockError& clock);

// "member 2 of 4 of GROUP, by the system clock, which is off by at most 1.2 ms"
services::Note GroupNote(const services::model::GroupMember& member, const pace::ClockError& clock);

}  // namespace tapedeck::gpu_worker::job
