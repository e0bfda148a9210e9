// An error of ours is an absl::Status whose payload carries a google.rpc.ErrorInfo reason. The data
// plane gives reasons, too, so they are made there.
#pragma once

#include "dataplane/reason.h"

namespace tapedeck::services {

using dataplane::ErrorReason;
using dataplane::ReasonOf;
using dataplane::WithReason;

}  // namespace tapedeck::services
