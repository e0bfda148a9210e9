// Tells when work on a queue's streams is done: behind it the device writes a number into host
// memory (a stream memory operation), and a thread looks there while something is outstanding. To
// wait for the driver's events instead would take its locks, against the thread that enqueues,
// which then takes several times as long for a block where many cores are busy.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <array>
#include <deque>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/memory/memory.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/device/health.h"

namespace tapedeck::gpu_worker::device::cuda {

// Owned by a queue, whose streams and health outlive it.
class Completions {
 public:
  static constexpr size_t kStreams = 2;

  static absl::StatusOr<std::unique_ptr<Completions>> Create(
      int device, Health& health, const std::array<cudaStream_t, kStreams>& streams);
  // Runs the callbacks that wait.
  ~Completions();

  // The queue's thread. Calls back, in the order of these calls, once everything that `stream` (its
  // index) has so far is done, or has failed; at once behind the others if `enqueued` is an error.
  void Then(size_t stream, const absl::Status& enqueued, Queue::Callback callback);

 private:
  // The number that a stream reaches; none if `failed` says why.
  struct Waiting {
    size_t stream = 0;
    uint32_t number = 0;
    absl::Status failed;
    Queue::Callback callback;
  };

  Completions(int device, Health& health, const std::array<cudaStream_t, kStreams>& streams,
              std::unique_ptr<dataplane::Memory> marks, PFN_cuStreamWriteValue32_v11070 write)
      : device_(device),
        health_(health),
        streams_(streams),
        marks_(std::move(marks)),
        write_(write) {}

  uint32_t* MarkOf(size_t stream) const;
  absl::Status WriteBehind(size_t stream, uint32_t number);
  // OK unless it has failed.
  absl::Status StreamState(size_t stream) const;
  void Run();
  // Waits until the device has written `number` there, or has failed.
  absl::Status AwaitMark(size_t stream, uint32_t number);

  const int device_;
  Health& health_;
  const std::array<cudaStream_t, kStreams> streams_;
  const std::unique_ptr<dataplane::Memory> marks_;  // of the host; a cache line for each stream
  const PFN_cuStreamWriteValue32_v11070 write_;
  std::array<uint32_t, kStreams> numbers_{};  // the last of each; the queue's thread

  absl::Mutex mutex_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::gpu_worker::device::cuda
