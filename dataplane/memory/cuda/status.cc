#include "dataplane/memory/cuda/status.h"

#include <cuda_runtime_api.h>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::cuda {

// Those after which, by the runtime's documentation, "the process must be terminated and
// relaunched"; and uncorrectable errors of memory and NVLink, which kill all that runs on the
// device.
bool IsSticky(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
      return true;
    default:
      return false;
  }
}

absl::Status ToStatus(cudaError_t error, absl::string_view call) {
  if (error == cudaSuccess) return absl::OkStatus();
  static_cast<void>(cudaGetLastError());
  const std::string text =
      absl::StrCat(call, ": ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ")");
  if (IsSticky(error)) return DeviceFailed(/*device=*/"", text);
  switch (error) {
    case cudaErrorMemoryAllocation:
      return LimitReached("memory", "memory",
                          text + "; end other jobs, or use fewer slots or smaller blocks");
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
      return absl::FailedPreconditionError(text);
    default:
      return absl::InternalError(text);
  }
}

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
