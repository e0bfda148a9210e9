// tapedeck.v1.PipelineService over a GPU worker's jobs.
#pragma once

#include "services/model/seams/jobs.h"
#include "services/rpc/server/service.h"

namespace tapedeck::services::server {

// `jobs` outlives the server.
ServiceFactory PipelineServiceOver(Jobs& jobs);

}  // namespace tapedeck::services::server
