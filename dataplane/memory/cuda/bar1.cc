#include "dataplane/memory/cuda/bar1.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::cuda {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kLeastFreeBytes = 32 * kMiB;
constexpr uint64_t kLeastFreeShare = 10;  // one in

// NVML's binary interface (nvml.h, stable since driver 331). Its header is in no package that a
// build needs otherwise.
using NvmlDevice = void*;
struct NvmlBar1Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
constexpr int kNvmlSuccess = 0;
constexpr int kNvmlNotSupported = 3;

struct LibraryCloser {
  void operator()(void* library) const { dlclose(library); }
};

template <typename Function>
bool FindIn(void* library, const char* name, Function* out) {
  *out = reinterpret_cast<Function>(dlsym(library, name));
  return *out != nullptr;
}

}  // namespace

struct Bar1Reader::Nvml {
  ~Nvml() {
    if (begun) shutdown();
  }

  std::unique_ptr<void, LibraryCloser> library;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_pci_bus_id)(const char*, NvmlDevice*) = nullptr;
  int (*bar1)(NvmlDevice, NvmlBar1Memory*) = nullptr;
  bool begun = false;
  NvmlDevice device = nullptr;
};

absl::Status CheckBar1(const Bar1& bar1, uint64_t bytes) {
  const uint64_t kept = std::max(kLeastFreeBytes, bar1.total_bytes / kLeastFreeShare);
  if (bar1.used_bytes + bytes + kept <= bar1.total_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "a window of ", (bytes + kMiB - 1) / kMiB, " MiB does not fit in BAR1: of its ",
      bar1.total_bytes / kMiB, " MiB, ", bar1.used_bytes / kMiB, " are used, and ", kept / kMiB,
      " must stay free; use a smaller ring, switch resizable BAR on, or end other users of the GPU "
      "(nvidia-smi -q -d MEMORY)"));
}

Bar1Reader::Bar1Reader(std::unique_ptr<Nvml> nvml) : nvml_(std::move(nvml)) {}

Bar1Reader::~Bar1Reader() = default;

absl::StatusOr<std::unique_ptr<Bar1Reader>> Bar1Reader::Create(int device) {
  std::array<char, 32> bus_id{};
  TD_RETURN_IF_ERROR(
      ToStatus(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), device),
               "cudaDeviceGetPCIBusId"));
  auto nvml = std::make_unique<Nvml>();
  nvml->library.reset(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
  if (nvml->library == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("dlopen: ", dlerror()));
  }
  void* const library = nvml->library.get();
  if (!FindIn(library, "nvmlInit_v2", &nvml->init) ||
      !FindIn(library, "nvmlShutdown", &nvml->shutdown) ||
      !FindIn(library, "nvmlDeviceGetHandleByPciBusId_v2", &nvml->by_pci_bus_id) ||
      !FindIn(library, "nvmlDeviceGetBAR1MemoryInfo", &nvml->bar1)) {
    return absl::FailedPreconditionError("dlsym in libnvidia-ml.so.1: a function is missing");
  }
  if (const int result = nvml->init(); result != kNvmlSuccess) {
    return absl::FailedPreconditionError(absl::StrCat("nvmlInit_v2: nvmlReturn ", result));
  }
  nvml->begun = true;
  if (const int result = nvml->by_pci_bus_id(bus_id.data(), &nvml->device);
      result != kNvmlSuccess) {
    return absl::FailedPreconditionError(
        absl::StrCat("nvmlDeviceGetHandleByPciBusId_v2(", bus_id.data(), "): nvmlReturn ", result));
  }
  return std::unique_ptr<Bar1Reader>(new Bar1Reader(std::move(nvml)));
}

absl::StatusOr<Bar1> Bar1Reader::Read() const {
  NvmlBar1Memory memory{};
  const int result = nvml_->bar1(nvml_->device, &memory);
  if (result == kNvmlNotSupported || (result == kNvmlSuccess && memory.total == 0)) {
    return absl::UnimplementedError("nvmlDeviceGetBAR1MemoryInfo: this GPU has no BAR1 window");
  }
  if (result != kNvmlSuccess) {
    return absl::InternalError(absl::StrCat("nvmlDeviceGetBAR1MemoryInfo: nvmlReturn ", result));
  }
  return Bar1{.total_bytes = memory.total, .used_bytes = memory.used};
}

}  // namespace tapedeck::dataplane::cuda
