#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/memory/cuda/memory.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::cuda {
namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == MemoryShare::kHandleBytes);
static_assert(sizeof(cudaUUID_t) == MemoryShare::kUuidBytes);

// Bytes from `address` to the end of its allocation.
absl::StatusOr<size_t> BytesFrom(void* address) {
  PFN_cuMemGetAddressRange_v3020 get_address_range = nullptr;
  TD_RETURN_IF_ERROR(FindDriverFunction("cuMemGetAddressRange", 3020, &get_address_range));
  CUdeviceptr base = 0;
  size_t size = 0;
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  if (const CUresult result = get_address_range(&base, &size, at); result != CUDA_SUCCESS) {
    return absl::InternalError(absl::StrCat("cuMemGetAddressRange: CUresult ", result));
  }
  return size - (at - base);
}

class SharedMemory final : public Memory {
 public:
  SharedMemory(std::unique_ptr<Memory> pages, const MemoryShare& share)
      : pages_(std::move(pages)), share_(share) {}
  MemoryWindow window() const override {
    return {.bytes = pages_->window().bytes.first(share_.bytes),
            .host_accessible = false,
            .share = &share_};
  }

 private:
  const std::unique_ptr<Memory> pages_;
  const MemoryShare share_;
};

class OpenedMemory final : public Memory {
 public:
  OpenedMemory(void* address, size_t bytes, int device)
      : address_(address), bytes_(bytes), device_(device) {}
  ~OpenedMemory() override {
    cudaError_t error = cudaSetDevice(device_);
    if (error == cudaSuccess) error = cudaIpcCloseMemHandle(address_);
    if (error == cudaSuccess || IsSticky(error)) return;
    Log(LogLevel::kError, "memory/cuda", ToStatus(error, "cudaIpcCloseMemHandle").ToString());
  }
  MemoryWindow window() const override {
    return {.bytes = {static_cast<std::byte*>(address_), bytes_}, .host_accessible = false};
  }

 private:
  void* const address_;
  const size_t bytes_;
  const int device_;
};

// The device of this process that has the UUID.
absl::Status CheckVisible(const MemoryShare& share) {
  int count = 0;
  TD_RETURN_IF_ERROR(ToStatus(cudaGetDeviceCount(&count), "cudaGetDeviceCount"));
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties;
    TD_RETURN_IF_ERROR(
        ToStatus(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties"));
    if (std::memcmp(&properties.uuid, share.device_uuid.data(), share.device_uuid.size()) == 0) {
      return absl::OkStatus();
    }
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the peer's memory lies on a GPU that this process does not see (UUID ",
      absl::BytesToHexString(absl::string_view(
          reinterpret_cast<const char*>(share.device_uuid.data()), share.device_uuid.size())),
      "): give both the same devices (CUDA_VISIBLE_DEVICES, the container's devices)"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Memory>> CreateShared(size_t bytes, int device) {
  // A handle opens whole pages.
  const size_t whole =
      (bytes + kAllocationPageBytes - 1) / kAllocationPageBytes * kAllocationPageBytes;
  TD_ASSIGN_OR_RETURN(std::unique_ptr<Memory> pages, Create(whole, device));
  cudaIpcMemHandle_t handle;
  TD_RETURN_IF_ERROR(
      ToStatus(cudaIpcGetMemHandle(&handle, pages->window().bytes.data()), "cudaIpcGetMemHandle"));
  cudaDeviceProp properties;
  TD_RETURN_IF_ERROR(
      ToStatus(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties"));
  MemoryShare share{.kind = MemoryShare::Kind::kCuda, .bytes = bytes};
  std::memcpy(share.handle.data(), &handle, sizeof(handle));
  std::memcpy(share.device_uuid.data(), &properties.uuid, sizeof(properties.uuid));
  return std::make_unique<SharedMemory>(std::move(pages), share);
}

absl::StatusOr<std::unique_ptr<Memory>> OpenShared(const MemoryShare& share, int device) {
  if (share.kind != MemoryShare::Kind::kCuda) {
    return absl::PermissionDeniedError("the peer's memory is not GPU memory");
  }
  TD_RETURN_IF_ERROR(ToStatus(cudaSetDevice(device), absl::StrCat("cudaSetDevice(", device, ")")));
  TD_RETURN_IF_ERROR(CheckVisible(share));
  cudaIpcMemHandle_t handle;
  std::memcpy(&handle, share.handle.data(), sizeof(handle));
  void* address = nullptr;
  TD_RETURN_IF_ERROR(
      ToStatus(cudaIpcOpenMemHandle(&address, handle, cudaIpcMemLazyEnablePeerAccess),
               "cudaIpcOpenMemHandle"));
  auto memory = std::make_unique<OpenedMemory>(address, share.bytes, device);
  TD_ASSIGN_OR_RETURN(const size_t there, BytesFrom(address));
  if (share.bytes == 0 || there < share.bytes) {
    return absl::PermissionDeniedError(
        absl::StrCat("the peer's GPU memory has ", there, " bytes, not ", share.bytes));
  }
  return memory;
}

}  // namespace tapedeck::dataplane::cuda
