// Playhead to and from its message.
#pragma once

#include "services/session/playhead.h"
#include "tapedeck/v1/session.pb.h"

namespace tapedeck::services::convert {

v1::Playhead ToProto(const session::Playhead& playhead);
session::Playhead FromProto(const v1::Playhead& playhead);

}  // namespace tapedeck::services::convert
