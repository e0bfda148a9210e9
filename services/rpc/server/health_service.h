// grpc.health.v1.Health: SERVING per service and for "" as a whole, NOT_SERVING while draining.
#pragma once

#include <set>
#include <string>

#include "services/rpc/server/service.h"

namespace tapedeck::services::server {

// `names` are the full names of the services that the server has.
Service MakeHealthService(Dispatch& dispatch, std::set<std::string> names);

}  // namespace tapedeck::services::server
