// CUDA runtime errors as absl::Status.
#pragma once

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::dataplane::cuda {

// OK for cudaSuccess. The text starts with `call`. RESOURCE_EXHAUSTED out of memory,
// FAILED_PRECONDITION without a usable device or driver, else INTERNAL.
absl::Status ToStatus(cudaError_t error, absl::string_view call);

}  // namespace tapedeck::dataplane::cuda
