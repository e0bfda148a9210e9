// Playhead to and from its message.
#pragma once

#include "services/model/playhead.h"
#include "tapedeck/v1/session.pb.h"

namespace tapedeck::services::convert {

v1::Playhead ToProto(const model::Playhead& playhead);
model::Playhead FromProto(const v1::Playhead& playhead);

}  // namespace tapedeck::services::convert
