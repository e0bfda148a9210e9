#include "gpu_worker/device/cuda/completions.h"

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dataplane/executor/thread.h"
#include "dataplane/log.h"
#include "dataplane/memory/cuda/memory.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::device::cuda {
namespace {

using dataplane::cuda::ToStatus;

constexpr size_t kMarkBytes = 64;

// Between two looks: about as long as a block of 1 MiB takes on its way over PCIe. What takes
// longer is looked at less often, and then the driver is asked, too, whether the stream has failed.
constexpr absl::Duration kFirstPause = absl::Microseconds(20);
constexpr absl::Duration kLongestPause = absl::Milliseconds(1);
constexpr int kLooks = 32;

}  // namespace

absl::StatusOr<std::unique_ptr<Completions>> Completions::Create(
    int device, Health& health, const std::array<cudaStream_t, kStreams>& streams) {
  PFN_cuStreamWriteValue32_v11070 write = nullptr;
  TD_RETURN_IF_ERROR(dataplane::cuda::FindDriverFunction("cuStreamWriteValue32", 11070, &write));
  TD_ASSIGN_OR_RETURN(auto marks, dataplane::cuda::CreatePinned(kStreams * kMarkBytes, device));
  std::memset(marks->window().bytes.data(), 0, kStreams * kMarkBytes);
  std::unique_ptr<Completions> made(
      new Completions(device, health, streams, std::move(marks), write));
  TD_ASSIGN_OR_RETURN(made->thread_,
                      dataplane::StartThread("cuda-done", [raw = made.get()] { raw->Run(); }));
  return made;
}

Completions::~Completions() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

uint32_t* Completions::MarkOf(size_t stream) const {
  return reinterpret_cast<uint32_t*>(marks_->window().bytes.data() + stream * kMarkBytes);
}

void Completions::Then(size_t stream, const absl::Status& enqueued, Queue::Callback callback) {
  Waiting waiting{.stream = stream, .failed = enqueued, .callback = std::move(callback)};
  if (enqueued.ok()) {
    waiting.number = ++numbers_[stream];
    waiting.failed = WriteBehind(stream, waiting.number);
  }
  absl::MutexLock lock(&mutex_);
  waiting_.push_back(std::move(waiting));
}

// The write comes after everything that the stream has written before, as the host sees it.
absl::Status Completions::WriteBehind(size_t stream, uint32_t number) {
  const CUresult result = write_(streams_[stream], reinterpret_cast<CUdeviceptr>(MarkOf(stream)),
                                 number, CU_STREAM_WRITE_VALUE_DEFAULT);
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  TD_RETURN_IF_ERROR(StreamState(stream));
  return absl::InternalError(absl::StrCat("cuStreamWriteValue32: CUresult ", result));
}

absl::Status Completions::StreamState(size_t stream) const {
  const cudaError_t state = cudaStreamQuery(streams_[stream]);
  if (state == cudaSuccess) return absl::OkStatus();
  if (state != cudaErrorNotReady) return health_.Note(ToStatus(state, "cudaStreamQuery"));
  static_cast<void>(cudaGetLastError());  // no error, but kept as one for this thread
  return absl::OkStatus();
}

void Completions::Run() {
  // Pauses are shorter than what the kernel may add to them.
  prctl(PR_SET_TIMERSLACK, 1000);
  const absl::Status set = health_.Note(ToStatus(cudaSetDevice(device_), "cudaSetDevice"));
  if (!set.ok()) dataplane::Log(dataplane::LogLevel::kError, "device/cuda", set.ToString());
  while (true) {
    Waiting next;
    {
      absl::MutexLock lock(&mutex_);
      const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return stop_ || !waiting_.empty();
      };
      mutex_.Await(absl::Condition(&has_work));
      if (waiting_.empty()) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (next.failed.ok()) next.failed = AwaitMark(next.stream, next.number);
    next.callback(std::move(next.failed));
  }
}

absl::Status Completions::AwaitMark(size_t stream, uint32_t number) {
  const std::atomic_ref<uint32_t> mark(*MarkOf(stream));
  absl::Duration pause = kFirstPause;
  // Numbers go on with 0 behind the largest.
  for (int look = 1; static_cast<int32_t>(mark.load(std::memory_order_acquire) - number) < 0;
       ++look) {
    if (look % kLooks == 0) {
      TD_RETURN_IF_ERROR(StreamState(stream));
      pause = std::min(2 * pause, kLongestPause);
    }
    absl::SleepFor(pause);
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::gpu_worker::device::cuda
