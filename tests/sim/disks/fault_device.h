// The real device store on the devices of a FaultDisk.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "storage_node/store/store.h"
#include "tests/sim/disks/fault_disk.h"

namespace tapedeck::sim {

// A LUN striped over all of the disk's devices, which hold nothing yet; and as a node opens it at
// its start. `disk` outlives the store; one thread.
absl::StatusOr<std::unique_ptr<storage_node::store::Store>> MakeDeviceLun(FaultDisk& disk);
absl::StatusOr<std::unique_ptr<storage_node::store::Store>> OpenDeviceLun(FaultDisk& disk);

}  // namespace tapedeck::sim
