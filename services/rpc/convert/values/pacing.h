// Pacing to and from its message.
#pragma once

#include "services/model/words/timing.h"
#include "tapedeck/v1/pacing.pb.h"

namespace tapedeck::services::convert {

v1::Pacing ToProto(const model::Pacing& pacing);
model::Pacing FromProto(const v1::Pacing& pacing);

}  // namespace tapedeck::services::convert
