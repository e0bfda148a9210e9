// TraceService over a node's flight recorder.
#pragma once

#include "services/observe/flight/reader.h"
#include "services/rpc/server/service.h"

namespace tapedeck::services::server {

// `reader` outlives the service.
ServiceFactory TraceServiceOver(const flight::Reader& reader);

}  // namespace tapedeck::services::server
