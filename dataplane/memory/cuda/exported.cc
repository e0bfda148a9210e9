#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/fd.h"
#include "dataplane/log.h"
#include "dataplane/memory/cuda/memory.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::cuda {
namespace {

// What the runtime does not offer, asked of the driver that it has loaded.
struct Driver {
  PFN_cuMemGetAddressRange_v3020 get_address_range = nullptr;
  PFN_cuMemGetHandleForAddressRange_v11070 get_handle = nullptr;
  PFN_cuPointerSetAttribute_v6000 set_attribute = nullptr;
  PFN_cuGetErrorString_v6000 get_error_string = nullptr;
};

absl::StatusOr<Driver> FindDriver() {
  Driver driver;
  TD_RETURN_IF_ERROR(FindDriverFunction("cuMemGetAddressRange", 3020, &driver.get_address_range));
  TD_RETURN_IF_ERROR(
      FindDriverFunction("cuMemGetHandleForAddressRange", 11070, &driver.get_handle));
  TD_RETURN_IF_ERROR(FindDriverFunction("cuPointerSetAttribute", 6000, &driver.set_attribute));
  TD_RETURN_IF_ERROR(FindDriverFunction("cuGetErrorString", 6000, &driver.get_error_string));
  return driver;
}

absl::Status DriverStatus(const Driver& driver, CUresult result, absl::string_view call) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  const char* text = nullptr;
  driver.get_error_string(result, &text);
  return absl::InternalError(
      absl::StrCat(call, ": ", text == nullptr ? "unknown" : text, " (CUresult ", result, ")"));
}

// The dma-buf of a whole allocation.
absl::StatusOr<int> Export(const Driver& driver, std::span<std::byte> bytes) {
  const auto address = reinterpret_cast<CUdeviceptr>(bytes.data());
  CUdeviceptr base = 0;
  size_t size = 0;
  TD_RETURN_IF_ERROR(DriverStatus(driver, driver.get_address_range(&base, &size, address),
                                  "cuMemGetAddressRange"));
  if (base != address || size < bytes.size()) {
    return absl::InternalError(absl::StrCat("cuMemGetAddressRange: the ring's ", bytes.size(),
                                            " bytes share an allocation of ", size,
                                            " bytes with other data"));
  }
  int fd = -1;
  TD_RETURN_IF_ERROR(DriverStatus(
      driver, driver.get_handle(&fd, base, bytes.size(), CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
      "cuMemGetHandleForAddressRange"));
  return fd;
}

class ExportedMemory final : public Memory {
 public:
  ExportedMemory(std::unique_ptr<Memory> pages, size_t bytes, int fd)
      : pages_(std::move(pages)), bytes_(bytes), fd_(fd) {}

  MemoryWindow window() const override {
    return {.bytes = pages_->window().bytes.first(bytes_),
            .host_accessible = false,
            .dma_buf_fd = fd_.get()};
  }

 private:
  const std::unique_ptr<Memory> pages_;
  const size_t bytes_;
  const Fd fd_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Memory>> CreateExported(size_t bytes, int device) {
  const size_t whole =
      (bytes + kAllocationPageBytes - 1) / kAllocationPageBytes * kAllocationPageBytes;
  TD_ASSIGN_OR_RETURN(std::unique_ptr<Memory> pages, Create(whole, device));
  TD_ASSIGN_OR_RETURN(const Driver driver, FindDriver());
  const std::span<std::byte> all = pages->window().bytes;
  unsigned sync = 1;
  TD_RETURN_IF_ERROR(DriverStatus(driver,
                                  driver.set_attribute(&sync, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                                                       reinterpret_cast<CUdeviceptr>(all.data())),
                                  "cuPointerSetAttribute(SYNC_MEMOPS)"));
  const absl::StatusOr<int> fd = Export(driver, all);
  if (!fd.ok()) {
    Log(LogLevel::kWarning, "memory/cuda", "no dma-buf for a ring",
        {{"device", absl::StrCat("cuda:", device)},
         {"bytes", absl::StrCat(bytes)},
         {"why", std::string(fd.status().message())}});
  }
  return std::make_unique<ExportedMemory>(std::move(pages), bytes, fd.value_or(-1));
}

}  // namespace tapedeck::dataplane::cuda
