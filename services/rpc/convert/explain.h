// What bounded a transfer, for whoever asks a node instead of computing it.
#pragma once

#include "services/observe/explain/explanation.h"
#include "tapedeck/v1/stages.pb.h"

namespace tapedeck::services::convert {

v1::Explanation ToProto(const explain::Explanation& explanation, bool running);

}  // namespace tapedeck::services::convert
