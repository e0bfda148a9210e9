// Playhead to and from its message.
#pragma once

#include "absl/status/status.h"
#include "services/model/playhead.h"
#include "services/rpc/convert/values/message.h"
#include "tapedeck/v1/session.pb.h"

namespace tapedeck::services::convert {

v1::Playhead ToProto(const model::Playhead& playhead);
model::Playhead FromProto(const v1::Playhead& playhead);

// Of a list of fields.
void WriteField(const model::Playhead& playhead, const WireField& to);
absl::Status ReadField(const ConstWireField& from, model::Playhead& playhead);

}  // namespace tapedeck::services::convert
