#include "dataplane/memory/cuda/driver.h"

#include <cuda_runtime_api.h>

#include "absl/strings/str_cat.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::cuda {

absl::StatusOr<void*> DriverFunction(const char* name, unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  TD_RETURN_IF_ERROR(
      ToStatus(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result),
               absl::StrCat("cudaGetDriverEntryPointByVersion(", name, ")")));
  if (result == cudaDriverEntryPointSuccess && found != nullptr) return found;
  return absl::UnimplementedError(
      absl::StrCat("cudaGetDriverEntryPointByVersion(", name,
                   "): the driver has no such function; install a newer driver"));
}

}  // namespace tapedeck::dataplane::cuda
