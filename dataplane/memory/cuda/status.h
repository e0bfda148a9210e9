// CUDA runtime errors as absl::Status.
#pragma once

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::dataplane::cuda {

// Whether nothing on that device succeeds in this process any more, whatever is tried.
bool IsSticky(cudaError_t error);

// OK for cudaSuccess. The text starts with `call`. RESOURCE_EXHAUSTED
// (LIMIT_REACHED) out of memory, FAILED_PRECONDITION without a usable device or driver, and with
// the reason DEVICE_FAILED where the error is sticky, else INTERNAL. The error is forgotten by the
// runtime, unless it is sticky: a kernel that this thread launches next does not answer for it.
absl::Status ToStatus(cudaError_t error, absl::string_view call);

// What the CUDA runtime does not offer, asked of the driver that it has loaded. Any thread.

// A function as it was in the given version of the driver's interface (cudaTypedefs.h has them).
// UNIMPLEMENTED where the driver is older.
absl::StatusOr<void*> DriverFunction(const char* name, unsigned version);

template <typename Function>
absl::Status FindDriverFunction(const char* name, unsigned version, Function* out) {
  const absl::StatusOr<void*> found = DriverFunction(name, version);
  if (found.ok()) *out = reinterpret_cast<Function>(*found);
  return found.status();
}

}  // namespace tapedeck::dataplane::cuda
