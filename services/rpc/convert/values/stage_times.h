// What a transfer has spent its time on, to and from the list in several messages.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include "services/model/words/stage_time.h"
#include "tapedeck/v1/stages.pb.h"

namespace tapedeck::services::convert {

using WireStageTimes = google::protobuf::RepeatedPtrField<v1::StageTime>;

void Write(const model::StageTimes& times, WireStageTimes& to);
model::StageTimes Read(const WireStageTimes& times);

}  // namespace tapedeck::services::convert
