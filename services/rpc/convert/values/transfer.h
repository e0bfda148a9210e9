// What a transfer starts from and what it tells of itself, to and from messages.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include "absl/status/status.h"
#include "services/model/playhead.h"
#include "services/model/words/stage_time.h"
#include "services/rpc/convert/values/message.h"
#include "tapedeck/v1/session.pb.h"
#include "tapedeck/v1/stages.pb.h"

namespace tapedeck::services::convert {

// What a transfer has spent its time on: a list in several messages.
using WireStageTimes = google::protobuf::RepeatedPtrField<v1::StageTime>;

void Write(const model::StageTimes& times, WireStageTimes& to);
model::StageTimes Read(const WireStageTimes& times);

v1::Playhead ToProto(const model::Playhead& playhead);
model::Playhead FromProto(const v1::Playhead& playhead);

// Of a list of fields.
void WriteField(const model::Playhead& playhead, const WireField& to);
absl::Status ReadField(const ConstWireField& from, model::Playhead& playhead);

}  // namespace tapedeck::services::convert
