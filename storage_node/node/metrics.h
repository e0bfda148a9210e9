// What the storage node shows on its page of metrics. All of it lies in memory: nothing here waits
// for a disk, or for a lock that is held while somebody does.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "services/observe/telemetry/page.h"
#include "services/session/serving/registry.h"
#include "storage_node/follow/tail_memory.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::node {

void AddSessions(services::telemetry::Page& page, const services::session::Registry& registry);

// `moves_waiting` as moving::Mover::waiting says it.
void AddLuns(services::telemetry::Page& page, recordings::Recordings& recordings,
             const std::map<std::string, uint64_t>& moves_waiting);

}  // namespace tapedeck::storage_node::node
