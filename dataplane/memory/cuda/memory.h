// Memory of a CUDA device, and host memory pinned for its copy engines.
#pragma once

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

}  // namespace tapedeck::dataplane::cuda
