// tapedeck.v1.RecorderService over the storage node's recorder and scrub control.
#pragma once

#include "services/model/seams/recorder.h"
#include "services/model/seams/scrub.h"
#include "services/rpc/server/service.h"

namespace tapedeck::services::server {

// Both outlive the server.
ServiceFactory RecorderServiceOver(RecorderControl& recorder, ScrubControl& scrubs);

}  // namespace tapedeck::services::server
