// What the storage node shows on its page of metrics. All of it lies in memory: nothing here waits
// for a disk, or for a lock that is held while somebody does.
#pragma once

#include "services/session/registry.h"
#include "services/telemetry/page.h"
#include "storage_node/follow/tail_memory.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::node {

void AddSessions(services::telemetry::Page& page, const services::session::Registry& registry);

void AddLuns(services::telemetry::Page& page, recordings::Recordings& recordings);

}  // namespace tapedeck::storage_node::node
