// Counters to and from their message, by their list (dataplane/transfer/counters.h).
#pragma once

#include "dataplane/transfer/counters.h"
#include "tapedeck/v1/counters.pb.h"

namespace tapedeck::services::convert {

v1::Counters ToProto(const dataplane::Counters& counters);
dataplane::Counters FromProto(const v1::Counters& counters);

}  // namespace tapedeck::services::convert
