#include "gpu_worker/device/cuda/device.h"

#include <cuda_runtime_api.h>

#include <array>

#include "absl/strings/str_cat.h"
#include "dataplane/memory/cuda/memory.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/cuda/direct.h"
#include "gpu_worker/device/cuda/queue.h"
#include "gpu_worker/device/cuda/stream_order.h"
#include "gpu_worker/device/health.h"
#include "gpu_worker/device/peer.h"

namespace tapedeck::gpu_worker::device::cuda {
namespace {

// A GPU's memory between processes of one machine.
class CudaPeer final : public PeerAccess {
 public:
  // `health` outlives it.
  CudaPeer(int device, Health& health) : device_(device), health_(health) {}

  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewSharedMemory(size_t bytes) override;
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> Open(
      const dataplane::MemoryShare& share) override;
  bool Owns(const dataplane::MemoryWindow& window) override;

 private:
  const int device_;
  Health& health_;
};

using dataplane::cuda::ToStatus;

class CudaDevice final : public Device {
 public:
  static absl::StatusOr<std::unique_ptr<Device>> Create(int index, DeviceInfo info) {
    std::unique_ptr<CudaDevice> device(new CudaDevice(index, std::move(info)));
    TD_ASSIGN_OR_RETURN(device->direct_, CudaDirect::Create(index, device->health()));
    return device;
  }

  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewDeviceMemory(size_t bytes) override {
    return health().Note(dataplane::cuda::Create(bytes, index_));
  }
  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewHostMemory(size_t bytes) override {
    return health().Note(dataplane::cuda::CreatePinned(bytes, index_));
  }
  absl::StatusOr<std::unique_ptr<Queue>> NewQueue() override {
    return health().Note(CudaQueue::Create(index_, health()));
  }
  DirectAccess* direct() override { return direct_.get(); }
  PeerAccess* peer() override { return &peer_; }
  absl::StatusOr<std::unique_ptr<StreamOrder>> NewStreamOrder(size_t lanes) override {
    return health().Note(CudaStreamOrder::Create(index_, health(), lanes));
  }

 private:
  CudaDevice(int index, DeviceInfo info)
      : Device(std::move(info)), index_(index), peer_(index, health()) {}

  const int index_;
  CudaPeer peer_;
  std::unique_ptr<DirectAccess> direct_;
};

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

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> Create(int index) {
  TD_ASSIGN_OR_RETURN(const int count, Count());
  if (index >= count) {
    return absl::FailedPreconditionError(absl::StrCat("cudaGetDeviceCount: this machine has ",
                                                      count, " CUDA device(s), no cuda:", index));
  }
  cudaDeviceProp properties;
  TD_RETURN_IF_ERROR(
      ToStatus(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties"));
  // Makes the context now, so that a broken device is found here and not in the first job.
  TD_RETURN_IF_ERROR(ToStatus(cudaSetDevice(index), "cudaSetDevice"));
  TD_RETURN_IF_ERROR(ToStatus(cudaFree(nullptr), "cudaFree(nullptr)"));
  std::array<char, 32> pci_address{};
  TD_RETURN_IF_ERROR(ToStatus(cudaDeviceGetPCIBusId(pci_address.data(), pci_address.size(), index),
                              "cudaDeviceGetPCIBusId"));
  const std::string name = absl::StrCat("cuda:", index);
  return CudaDevice::Create(index, {.kind = "cuda",
                                    .name = name,
                                    .description = absl::StrCat(name, " ", properties.name),
                                    .memory_bytes = properties.totalGlobalMem,
                                    .pci_address = pci_address.data()});
}

absl::StatusOr<int> Count() {
  int count = 0;
  TD_RETURN_IF_ERROR(ToStatus(cudaGetDeviceCount(&count), "cudaGetDeviceCount"));
  return count;
}

}  // namespace tapedeck::gpu_worker::device::cuda
