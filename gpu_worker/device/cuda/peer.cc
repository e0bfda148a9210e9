#include "gpu_worker/device/cuda/peer.h"

#include <cuda_runtime_api.h>

#include "dataplane/memory/cuda/memory.h"
#include "dataplane/memory/cuda/status.h"

namespace tapedeck::gpu_worker::device::cuda {

absl::StatusOr<std::unique_ptr<dataplane::Memory>> CudaPeer::NewSharedMemory(size_t bytes) {
  return health_.Note(dataplane::cuda::CreateShared(bytes, device_));
}

absl::StatusOr<std::unique_ptr<dataplane::Memory>> CudaPeer::Open(
    const dataplane::MemoryShare& share) {
  return health_.Note(dataplane::cuda::OpenShared(share, device_));
}

bool CudaPeer::Owns(const dataplane::MemoryWindow& window) {
  if (window.host_accessible) return false;
  cudaPointerAttributes attributes;
  const cudaError_t error = cudaPointerGetAttributes(&attributes, window.bytes.data());
  return health_.Note(dataplane::cuda::ToStatus(error, "cudaPointerGetAttributes")).ok() &&
         attributes.type == cudaMemoryTypeDevice && attributes.device == device_;
}

}  // namespace tapedeck::gpu_worker::device::cuda
