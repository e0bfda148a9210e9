// What a start reads before it opens its first socket: all faults of what is configured, found by
// the start's own functions. Starts, makes and locks nothing.
#pragma once

#include "services/base/faults.h"
#include "storage_node/settings.h"

namespace tapedeck::storage_node {

// Each fault for which the node does not start. Waits for disks and the resolver.
services::Faults LookBeforeStart(const Settings& settings);

// The same, and what later steps of the start would meet: too little room for the state, a catalog
// of another version. Warns of what a node starts without and then lacks: directories for members
// that are not there may be mounted later.
services::config::Looked LookAtAll(const Settings& settings);

}  // namespace tapedeck::storage_node
