// tapedeck.v1.PipelineService over a GPU worker's jobs.
#pragma once

#include "services/jobs.h"
#include "services/server/service.h"

namespace tapedeck::services::server {

// `jobs` outlives the server.
ServiceFactory PipelineServiceOver(Jobs& jobs);

}  // namespace tapedeck::services::server
