// Memory of a CUDA device, and host memory pinned for its copy engines.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/memory/memory.h"

namespace tapedeck::dataplane::cuda {

// cudaMalloc cuts smaller allocations out of shared pages of this size; what is exported takes
// whole ones.
inline constexpr size_t kAllocationPageBytes = size_t{2} << 20;

// In the memory of `device`: not readable by the CPU. RESOURCE_EXHAUSTED (LIMIT_REACHED) if the
// device has no room.
absl::StatusOr<std::unique_ptr<Memory>> Create(size_t bytes, int device);

// Page-aligned host memory that every device copies from and to without the CPU.
absl::StatusOr<std::unique_ptr<Memory>> CreatePinned(size_t bytes, int device);

// Pages of its own, so that no other allocation becomes reachable with them, and with synchronous
// copies that really are (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS). Its window has a dma-buf if the driver
// exports one; if not, the log says why. RESOURCE_EXHAUSTED if the device has no room.
absl::StatusOr<std::unique_ptr<Memory>> CreateExported(size_t bytes, int device);

// As Create, an allocation of its own; its window has a share. Errors with the driver's words where
// it exports none.
absl::StatusOr<std::unique_ptr<Memory>> CreateShared(size_t bytes, int device);

// Memory of another process, for work on `device`; it may lie on another device of this machine
// that this one reaches. Waits for the driver. `share` is a peer's word: PERMISSION_DENIED where it
// is less than it says; the driver's words where it refuses; FAILED_PRECONDITION where no device of
// this process has that UUID.
absl::StatusOr<std::unique_ptr<Memory>> OpenShared(const MemoryShare& share, int device);

}  // namespace tapedeck::dataplane::cuda
