// The messages of the flight recorder for those who do not see protos.
#pragma once

#include "services/observe/flight/trace.h"

namespace tapedeck::services::convert {

// Parts of dumps are tapedeck.v1.Trace.
flight::TraceCodec TraceMessages();

}  // namespace tapedeck::services::convert
