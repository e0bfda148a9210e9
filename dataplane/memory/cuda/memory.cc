#include "dataplane/memory/cuda/memory.h"

#include <cuda_runtime_api.h>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::cuda {
namespace {

// Of a sticky error whoever works on the device has told.
void LogFailure(cudaError_t error, absl::string_view call) {
  if (error == cudaSuccess || IsSticky(error)) return;
  Log(LogLevel::kError, "memory/cuda", ToStatus(error, call).ToString());
}

// A thread that has chosen no device would free in the context of device 0, which that makes first:
// hundreds of MiB of a GPU that others may use. Any thread may drop the last block of a ring.
void MakeCurrent(int device) { LogFailure(cudaSetDevice(device), "cudaSetDevice"); }

class DeviceMemory final : public Memory {
 public:
  DeviceMemory(std::span<std::byte> bytes, int device) : bytes_(bytes), device_(device) {}
  ~DeviceMemory() override {
    MakeCurrent(device_);
    LogFailure(cudaFree(bytes_.data()), "cudaFree");
  }
  MemoryWindow window() const override { return {.bytes = bytes_, .host_accessible = false}; }

 private:
  const std::span<std::byte> bytes_;
  const int device_;
};

class PinnedMemory final : public Memory {
 public:
  PinnedMemory(std::span<std::byte> bytes, int device) : bytes_(bytes), device_(device) {}
  ~PinnedMemory() override {
    MakeCurrent(device_);
    LogFailure(cudaFreeHost(bytes_.data()), "cudaFreeHost");
  }
  MemoryWindow window() const override { return {.bytes = bytes_}; }

 private:
  const std::span<std::byte> bytes_;
  const int device_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Memory>> Create(size_t bytes, int device) {
  TD_RETURN_IF_ERROR(ToStatus(cudaSetDevice(device), absl::StrCat("cudaSetDevice(", device, ")")));
  void* address = nullptr;
  TD_RETURN_IF_ERROR(
      ToStatus(cudaMalloc(&address, bytes), absl::StrCat("cudaMalloc of ", bytes, " bytes")));
  return std::make_unique<DeviceMemory>(std::span(static_cast<std::byte*>(address), bytes), device);
}

absl::StatusOr<std::unique_ptr<Memory>> CreatePinned(size_t bytes, int device) {
  TD_RETURN_IF_ERROR(ToStatus(cudaSetDevice(device), absl::StrCat("cudaSetDevice(", device, ")")));
  void* address = nullptr;
  TD_RETURN_IF_ERROR(ToStatus(cudaHostAlloc(&address, bytes, cudaHostAllocPortable),
                              absl::StrCat("cudaHostAlloc of ", bytes, " bytes")));
  return std::make_unique<PinnedMemory>(std::span(static_cast<std::byte*>(address), bytes), device);
}

}  // namespace tapedeck::dataplane::cuda
