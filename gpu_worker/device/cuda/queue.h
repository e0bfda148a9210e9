// A pipeline's CUDA streams: one for copies to the device, one for kernels, ordered after these,
// and one for copies to the host, ordered after the kernels, so that a block comes and another one
// leaves while a third is computed. Completions call back: a host function in the stream would
// stall it, and would never run once the context has failed.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "gpu_worker/device/cuda/completions.h"
#include "gpu_worker/device/cuda/crc32c.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/device/health.h"

namespace tapedeck::gpu_worker::device::cuda {

struct StreamDeleter {
  void operator()(cudaStream_t stream) const;
};
struct EventDeleter {
  void operator()(cudaEvent_t event) const;
};
using UniqueStream = std::unique_ptr<CUstream_st, StreamDeleter>;
using UniqueEvent = std::unique_ptr<CUevent_st, EventDeleter>;

// Owned by a pipeline; enqueued to by its work thread alone.
class CudaQueue final : public Queue {
 public:
  // `health` outlives it.
  static absl::StatusOr<std::unique_ptr<Queue>> Create(int device, Health& health);
  ~CudaQueue() override;

  void* native() override;
  absl::Status Copy(Way way, std::byte* to, const std::byte* from, size_t bytes) override;
  absl::Status CrcsOfPieces(uint32_t* crcs, std::span<const std::byte> payload,
                            size_t piece_bytes) override;
  void Then(Callback callback) override;

 private:
  struct Parts {
    UniqueStream copy_in;
    UniqueStream compute;
    UniqueStream copy_out;
    UniqueEvent order;
    std::unique_ptr<dataplane::Memory> scratch;
  };

  CudaQueue(int device, Health& health, Parts parts);
  // Every error of the queue's own calls comes through here.
  absl::Status Checked(cudaError_t error, absl::string_view call);
  // Where nobody waits for an answer.
  void LogUnlessOk(cudaError_t error, absl::string_view call);
  // What is enqueued on `later` from now on waits for what `earlier` has.
  absl::Status Order(const UniqueStream& earlier, const UniqueStream& later);
  absl::Status CopyIn(std::byte* device, const std::byte* host, size_t bytes);
  absl::Status CopyOut(std::byte* host, const std::byte* device, size_t bytes);
  // Copies to the host wait for what is to be computed, unless they do already.
  absl::Status OrderCopiesOut();

  const int device_;
  Health& health_;
  const UniqueStream copy_in_;
  const UniqueStream compute_;
  const UniqueStream copy_out_;
  const UniqueEvent order_;                           // between two streams
  const std::unique_ptr<dataplane::Memory> scratch_;  // a Crc32cScratch

  bool computes_ = false;    // something for which copies out do not wait yet
  bool copies_out_ = false;  // since the last Then

  std::unique_ptr<Completions> completions_;  // goes first
};

}  // namespace tapedeck::gpu_worker::device::cuda
