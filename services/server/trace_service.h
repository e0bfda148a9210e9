// TraceService over a node's flight recorder.
#pragma once

#include "services/flight/reader.h"
#include "services/server/service.h"

namespace tapedeck::services::server {

// `reader` outlives the service.
ServiceFactory TraceServiceOver(const flight::Reader& reader);

}  // namespace tapedeck::services::server
