// Memory of a CUDA device that another process of the machine can open (CUDA Runtime API,
// "Interprocess communication": cudaIpcGetMemHandle, cudaIpcOpenMemHandle).
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/memory/memory.h"

namespace tapedeck::dataplane::cuda {

// As Create, an allocation of its own; its window has a share. Errors with the driver's words where
// it exports none.
absl::StatusOr<std::unique_ptr<Memory>> CreateShared(size_t bytes, int device);

// Memory of another process, for work on `device`; it may lie on another device of this machine
// that this one reaches. Waits for the driver. `share` is a peer's word: PERMISSION_DENIED where it
// is less than it says; the driver's words where it refuses; FAILED_PRECONDITION where no device of
// this process has that UUID.
absl::StatusOr<std::unique_ptr<Memory>> OpenShared(const MemoryShare& share, int device);

}  // namespace tapedeck::dataplane::cuda
