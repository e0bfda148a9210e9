// tapedeck.v1.NodeService: what a node tells about itself.
#pragma once

#include "services/model/seams/node.h"
#include "services/rpc/server/service.h"

namespace tapedeck::services::server {

// `describer` outlives the server.
ServiceFactory NodeServiceOver(const NodeDescriber& describer);

}  // namespace tapedeck::services::server
