// tapedeck.v1.InletService over a GPU worker's inlets.
#pragma once

#include "services/model/seams/inlets.h"
#include "services/rpc/server/service.h"

namespace tapedeck::services::server {

// `inlets` outlives the server.
ServiceFactory InletServiceOver(Inlets& inlets);

}  // namespace tapedeck::services::server
