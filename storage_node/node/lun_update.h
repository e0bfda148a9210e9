// Changes what can be changed of a LUN that is there.
#pragma once

#include "absl/status/status.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::node {

// All of it or nothing. The errors of UpdateLun in catalog.proto. Any thread; waits for the LUN's
// disks.
absl::Status UpdateLun(recordings::Recordings& recordings, const services::LunUpdate& update);

}  // namespace tapedeck::storage_node::node
