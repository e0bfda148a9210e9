// Memory of a CUDA device for a ring that network ports reach themselves (GPUDirect RDMA).
#pragma once

#include "dataplane/memory/memory.h"

namespace tapedeck::dataplane::cuda {

// Pages of its own, so that no other allocation becomes reachable with them, and with synchronous
// copies that really are (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS). Its window has a dma-buf if the driver
// exports one; if not, the log says why. RESOURCE_EXHAUSTED if the device has no room.
absl::StatusOr<std::unique_ptr<Memory>> CreateExported(size_t bytes, int device);

}  // namespace tapedeck::dataplane::cuda
