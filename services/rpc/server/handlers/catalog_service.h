// tapedeck.v1.CatalogService over the storage node's catalog.
#pragma once

#include "services/model/seams/catalog.h"
#include "services/rpc/server/service.h"

namespace tapedeck::services::server {

// The three are often one object; each outlives the server.
ServiceFactory CatalogServiceOver(LunCatalog& luns, ChannelCatalog& channels,
                                  RecordingCatalog& recordings);

}  // namespace tapedeck::services::server
