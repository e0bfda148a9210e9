// Order with a program's streams on a CUDA device, by stream memory operations and events.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <memory>

#include "absl/strings/string_view.h"
#include "dataplane/memory/memory.h"
#include "gpu_worker/device/cuda/crc32c.h"
#include "gpu_worker/device/health.h"
#include "gpu_worker/device/stream_order.h"

namespace tapedeck::gpu_worker::device::cuda {

// What the runtime does not offer, asked of the driver that it has loaded.
struct OrderDriver {
  PFN_cuDevicePrimaryCtxRetain_v7000 retain = nullptr;
  PFN_cuDevicePrimaryCtxRelease_v11000 release = nullptr;
  PFN_cuDevicePrimaryCtxGetState_v7000 state = nullptr;
  PFN_cuCtxPushCurrent_v4000 push = nullptr;
  PFN_cuCtxPopCurrent_v4000 pop = nullptr;
  PFN_cuStreamGetCtx_v9020 stream_context = nullptr;
  PFN_cuStreamWaitValue64_v11070 wait = nullptr;
  PFN_cuStreamWriteValue64_v11070 write = nullptr;
};

class CudaStreamOrder final : public StreamOrder {
 public:
  // `health` outlives it.
  static absl::StatusOr<std::unique_ptr<StreamOrder>> Create(int device, Health& health,
                                                             size_t lanes);
  ~CudaStreamOrder() override;

  absl::StatusOr<std::unique_ptr<dataplane::Memory>> NewFlags(size_t bytes) override;
  absl::StatusOr<Capture> Check(StreamHandle stream) override;
  absl::Status AwaitFlag(StreamHandle stream, uint64_t* flag, Until until) override;
  absl::Status SetFlag(StreamHandle stream, uint64_t* flag, uint64_t value) override;
  absl::Status CopyToHost(StreamHandle stream, std::byte* host, const std::byte* device,
                          size_t bytes) override;
  absl::Status CopyByOrder(StreamHandle stream, std::byte* device, const CopyOrder* order,
                           size_t most) override;
  absl::Status Crc32c(StreamHandle stream, uint32_t* crc, std::span<const std::byte> payload,
                      size_t lane) override;
  absl::StatusOr<std::unique_ptr<Mark>> NewMark() override;
  absl::Status SetMark(StreamHandle stream, Mark& mark) override;
  absl::Status AwaitMark(StreamHandle stream, Mark& mark) override;
  absl::StatusOr<bool> Passed(const Mark& mark) override;
  absl::StatusOr<StreamHandle> NewStream() override;
  void DeleteStream(StreamHandle stream) override;

 private:
  class Current;

  CudaStreamOrder(int device, Health& health, const OrderDriver& driver, CUcontext context)
      : device_(device), health_(health), driver_(driver), context_(context) {}

  // Whether it is still there; one that has been made anew since is not told from it.
  absl::Status CheckContext() const;
  absl::Status MakeLanes(size_t lanes);
  absl::Status Checked(cudaError_t error, absl::string_view call);
  absl::Status Checked(CUresult result, absl::string_view call);

  const int device_;
  Health& health_;
  const OrderDriver driver_;
  const CUcontext context_;  // the device's primary one, held
  // Tables, and sums for each lane.
  std::unique_ptr<dataplane::Memory> tables_;
  std::unique_ptr<dataplane::Memory> sums_;
};

}  // namespace tapedeck::gpu_worker::device::cuda
