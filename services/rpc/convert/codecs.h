// Jobs and traces as messages, for those who keep them and do not see protos.
#pragma once

#include "services/model/seams/jobs.h"
#include "services/observe/flight/trace.h"

namespace tapedeck::services::convert {

// All of a job but its target, as a tapedeck.v1.Job.
JobCodec JobMessages();

// Parts of the flight recorder's dumps are tapedeck.v1.Trace.
flight::TraceCodec TraceMessages();

}  // namespace tapedeck::services::convert
