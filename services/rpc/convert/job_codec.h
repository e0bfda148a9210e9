// Jobs as messages, for those who keep them and do not see protos.
#pragma once

#include "services/model/seams/jobs.h"

namespace tapedeck::services::convert {

// All of a job but its target, as a tapedeck.v1.Job.
JobCodec JobMessages();

}  // namespace tapedeck::services::convert
