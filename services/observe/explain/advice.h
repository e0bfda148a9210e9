// What helps against the stage that bounds a transfer.
#pragma once

#include <string>

#include "dataplane/block/flow.h"

namespace tapedeck::services::explain {

// For a stage of an Explanation, by its name.
std::string AdviceFor(const std::string& stage, dataplane::Direction direction);

}  // namespace tapedeck::services::explain
