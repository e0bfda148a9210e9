// tapedeck.v1.ViewService: what recordings look like.
#pragma once

#include "services/server/service.h"
#include "services/view.h"

namespace tapedeck::services::server {

// `view` outlives the server.
ServiceFactory ViewServiceOver(ViewControl& view);

}  // namespace tapedeck::services::server
