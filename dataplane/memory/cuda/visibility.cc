#include "dataplane/memory/cuda/visibility.h"

#include <cuda_runtime_api.h>

#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::cuda {

WriteVisibility VisibilityOf(int writes_ordering, int flush_options) {
  if (writes_ordering >= cudaGPUDirectRDMAWritesOrderingOwner) return WriteVisibility::kOrdered;
  if ((flush_options & cudaFlushGPUDirectRDMAWritesOptionHost) != 0) return WriteVisibility::kFlush;
  return WriteVisibility::kLoopbackRead;
}

absl::StatusOr<DirectAttributes> ReadDirectAttributes(int device) {
  int supported = 0;
  DirectAttributes attributes;
  TD_RETURN_IF_ERROR(
      ToStatus(cudaDeviceGetAttribute(&supported, cudaDevAttrGPUDirectRDMASupported, device),
               "cudaDeviceGetAttribute(GPUDirectRDMASupported)"));
  attributes.supported = supported != 0;
  TD_RETURN_IF_ERROR(
      ToStatus(cudaDeviceGetAttribute(&attributes.writes_ordering,
                                      cudaDevAttrGPUDirectRDMAWritesOrdering, device),
               "cudaDeviceGetAttribute(GPUDirectRDMAWritesOrdering)"));
  TD_RETURN_IF_ERROR(
      ToStatus(cudaDeviceGetAttribute(&attributes.flush_options,
                                      cudaDevAttrGPUDirectRDMAFlushWritesOptions, device),
               "cudaDeviceGetAttribute(GPUDirectRDMAFlushWritesOptions)"));
  return attributes;
}

absl::Status FlushWrites(int device) {
  TD_RETURN_IF_ERROR(ToStatus(cudaSetDevice(device), "cudaSetDevice"));
  return ToStatus(
      cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                         cudaFlushGPUDirectRDMAWritesToOwner),
      "cudaDeviceFlushGPUDirectRDMAWrites");
}

}  // namespace tapedeck::dataplane::cuda
