// A pipeline's CUDA streams. Kernels and copies to the device run on one stream; copies to the host
// on a second, ordered after them, so that block n leaves while block n+1 is made. A thread of the
// queue sleeps on events and calls back: a host function in the stream would stall it, and would
// never run once the context has failed.
#pragma once

#include <cuda_runtime_api.h>

#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "gpu_worker/device/cuda/crc32c.h"
#include "gpu_worker/device/device.h"

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
  static absl::StatusOr<std::unique_ptr<Queue>> Create(int device);
  ~CudaQueue() override;

  void* native() override;
  absl::Status CopyToDevice(std::byte* device, const std::byte* from, size_t bytes) override;
  absl::Status CopyToHost(std::byte* host, const std::byte* device, size_t bytes) override;
  absl::Status Crc32c(uint32_t* crc, std::span<const std::byte> payload) override;
  void Then(Callback callback) override;

 private:
  // A callback and the event it waits for; no event if `failed` already says why.
  struct Waiting {
    UniqueEvent event;
    absl::Status failed;
    Callback callback;
  };

  struct Parts {
    UniqueStream compute;
    UniqueStream copy_out;
    UniqueEvent order;
    std::unique_ptr<dataplane::Memory> scratch;
  };

  CudaQueue(int device, Parts parts);
  absl::StatusOr<UniqueEvent> RecordEnd();
  absl::StatusOr<UniqueEvent> TakeEvent();
  void RunCallbacks();

  const int device_;
  const UniqueStream compute_;
  const UniqueStream copy_out_;
  const UniqueEvent order_;                           // between the two streams
  const std::unique_ptr<dataplane::Memory> scratch_;  // a Crc32cScratch

  absl::Mutex mutex_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<UniqueEvent> spare_events_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::gpu_worker::device::cuda
