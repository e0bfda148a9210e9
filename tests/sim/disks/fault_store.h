// A Store over a FaultDisk. Completions come late and in an order that the disk's seed chooses.
#pragma once

#include <memory>

#include "storage_node/store/store.h"
#include "tests/sim/disks/fault_disk.h"

namespace tapedeck::sim {

// `disk` outlives the store; one thread.
std::unique_ptr<storage_node::store::Store> MakeFaultStore(FaultDisk& disk, uint32_t members);

}  // namespace tapedeck::sim
