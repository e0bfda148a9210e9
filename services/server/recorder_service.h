// tapedeck.v1.RecorderService over the storage node's recorder and scrub control.
#pragma once

#include "services/recorder.h"
#include "services/scrub.h"
#include "services/server/service.h"

namespace tapedeck::services::server {

// Both outlive the server.
ServiceFactory RecorderServiceOver(RecorderControl& recorder, ScrubControl& scrubs);

}  // namespace tapedeck::services::server
