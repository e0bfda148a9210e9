// tapedeck.v1.ViewService: what recordings look like.
#pragma once

#include "services/model/seams/view.h"
#include "services/rpc/server/service.h"

namespace tapedeck::services::server {

// `view` outlives the server.
ServiceFactory ViewServiceOver(ViewControl& view);

}  // namespace tapedeck::services::server
