#include "gpu_worker/device/cuda/direct.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/memory/cuda/memory.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::device::cuda {

using dataplane::cuda::Bar1Reader;
using dataplane::cuda::WriteVisibility;

absl::StatusOr<std::unique_ptr<DirectAccess>> CudaDirect::Create(int device, Health& health) {
  TD_ASSIGN_OR_RETURN(const auto attributes, dataplane::cuda::ReadDirectAttributes(device));
  absl::StatusOr<std::unique_ptr<Bar1Reader>> bar1 = Bar1Reader::Create(device);
  if (!bar1.ok()) {
    dataplane::Log(
        dataplane::LogLevel::kWarning, "device/cuda",
        "BAR1 cannot be read: rings are made without knowing its free space",
        {{"device", absl::StrCat("cuda:", device)}, {"why", std::string(bar1.status().message())}});
  }
  return std::unique_ptr<DirectAccess>(
      new CudaDirect(device, health, attributes, bar1.ok() ? *std::move(bar1) : nullptr));
}

CudaDirect::CudaDirect(int device, Health& health,
                       const dataplane::cuda::DirectAttributes& attributes,
                       std::unique_ptr<Bar1Reader> bar1)
    : device_(device),
      health_(health),
      supported_(attributes.supported),
      visibility_(
          dataplane::cuda::VisibilityOf(attributes.writes_ordering, attributes.flush_options)),
      bar1_(std::move(bar1)) {}

absl::StatusOr<std::unique_ptr<dataplane::Memory>> CudaDirect::NewRingMemory(size_t bytes) {
  if (!supported_) {
    return absl::UnimplementedError(absl::StrCat(
        "cudaDeviceGetAttribute: cuda:", device_,
        " has no GPUDirect RDMA (GeForce cards have none): no port can reach its memory"));
  }
  return health_.Note(dataplane::cuda::CreateExported(bytes, device_));
}

absl::Status CudaDirect::CheckRoom(size_t bytes) {
  if (bar1_ == nullptr) return absl::OkStatus();
  const absl::StatusOr<dataplane::cuda::Bar1> bar1 = bar1_->Read();
  if (absl::IsUnimplemented(bar1.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(bar1.status());
  return dataplane::cuda::CheckBar1(*bar1, bytes);
}

absl::Status CudaDirect::visibility() const {
  if (visibility_ != WriteVisibility::kLoopbackRead) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "cuda:", device_,
      " can neither order nor flush the writes of ports; played blocks go through host memory"));
}

absl::Status CudaDirect::MakeVisible() {
  if (visibility_ != WriteVisibility::kFlush) return visibility();
  return health_.Note(dataplane::cuda::FlushWrites(device_));
}

}  // namespace tapedeck::gpu_worker::device::cuda
