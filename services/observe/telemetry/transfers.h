// What both nodes tell of their sessions, by direction.
#pragma once

#include "dataplane/block/flow.h"
#include "services/model/seams/node.h"
#include "services/observe/telemetry/page.h"

namespace tapedeck::services::telemetry {

void AddTransfers(Page& page, dataplane::Direction direction, const NodeStats& stats);

}  // namespace tapedeck::services::telemetry
