// What a start reads before it opens its first socket: all faults of what is configured, found by
// the start's own functions. Starts and makes nothing.
#pragma once

#include "gpu_worker/settings.h"
#include "services/base/faults.h"

namespace tapedeck::gpu_worker {

// Each fault for which the worker does not start, but for those of its devices, which the start
// itself chooses first. Waits for disks and the resolver.
services::Faults LookBeforeStart(const Settings& settings);

// The same with the devices. Warns of what a worker starts without and then lacks: directories of
// jobs' files that are not there may be mounted later.
services::config::Looked LookAtAll(const Settings& settings);

}  // namespace tapedeck::gpu_worker
