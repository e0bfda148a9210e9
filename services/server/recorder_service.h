// tapedeck.v1.RecorderService over the storage node's recorder control.
#pragma once

#include "services/recorder.h"
#include "services/server/service.h"

namespace tapedeck::services::server {

// `recorder` outlives the server.
ServiceFactory RecorderServiceOver(RecorderControl& recorder);

}  // namespace tapedeck::services::server
