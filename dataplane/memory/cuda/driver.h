// What the CUDA runtime does not offer, asked of the driver that it has loaded. Any thread.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tapedeck::dataplane::cuda {

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
