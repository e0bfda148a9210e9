#include "gpu_worker/device/cuda/queue.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/thread.h"
#include "dataplane/log.h"
#include "dataplane/memory/cuda/memory.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::device::cuda {
namespace {

using dataplane::cuda::ToStatus;

void LogFailure(cudaError_t error, absl::string_view call) {
  if (error == cudaSuccess) return;
  dataplane::Log(dataplane::LogLevel::kError, "device/cuda", ToStatus(error, call).ToString());
}

absl::StatusOr<UniqueStream> CreateStream() {
  cudaStream_t stream = nullptr;
  TD_RETURN_IF_ERROR(ToStatus(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                              "cudaStreamCreateWithFlags"));
  return UniqueStream(stream);
}

// Waiting for it sleeps: a spinning thread would take a core from the network.
absl::StatusOr<UniqueEvent> CreateEvent() {
  cudaEvent_t event = nullptr;
  TD_RETURN_IF_ERROR(
      ToStatus(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync),
               "cudaEventCreateWithFlags"));
  return UniqueEvent(event);
}

}  // namespace

void StreamDeleter::operator()(cudaStream_t stream) const {
  LogFailure(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

void EventDeleter::operator()(cudaEvent_t event) const {
  LogFailure(cudaEventDestroy(event), "cudaEventDestroy");
}

absl::StatusOr<std::unique_ptr<Queue>> CudaQueue::Create(int device) {
  TD_RETURN_IF_ERROR(ToStatus(cudaSetDevice(device), "cudaSetDevice"));
  Parts parts;
  TD_ASSIGN_OR_RETURN(parts.compute, CreateStream());
  TD_ASSIGN_OR_RETURN(parts.copy_out, CreateStream());
  TD_ASSIGN_OR_RETURN(parts.order, CreateEvent());
  TD_ASSIGN_OR_RETURN(parts.scratch, dataplane::cuda::Create(sizeof(Crc32cScratch), device));
  TD_RETURN_IF_ERROR(ToStatus(cudaMemsetAsync(parts.scratch->window().bytes.data(), 0,
                                              sizeof(Crc32cScratch), parts.compute.get()),
                              "cudaMemsetAsync"));
  std::unique_ptr<CudaQueue> queue(new CudaQueue(device, std::move(parts)));
  TD_ASSIGN_OR_RETURN(queue->thread_, dataplane::StartThread("cuda-done", [raw = queue.get()] {
                        raw->RunCallbacks();
                      }));
  return std::unique_ptr<Queue>(std::move(queue));
}

CudaQueue::CudaQueue(int device, Parts parts)
    : device_(device),
      compute_(std::move(parts.compute)),
      copy_out_(std::move(parts.copy_out)),
      order_(std::move(parts.order)),
      scratch_(std::move(parts.scratch)) {}

CudaQueue::~CudaQueue() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  if (thread_.joinable()) thread_.join();
  // Work enqueued after the last Then still uses memory that its owner frees next.
  LogFailure(cudaSetDevice(device_), "cudaSetDevice");
  LogFailure(cudaStreamSynchronize(compute_.get()), "cudaStreamSynchronize");
  LogFailure(cudaStreamSynchronize(copy_out_.get()), "cudaStreamSynchronize");
}

void* CudaQueue::native() {
  LogFailure(cudaSetDevice(device_), "cudaSetDevice");
  return compute_.get();
}

absl::Status CudaQueue::CopyToDevice(std::byte* device, const std::byte* from, size_t bytes) {
  TD_RETURN_IF_ERROR(ToStatus(cudaSetDevice(device_), "cudaSetDevice"));
  // Both ends are of CUDA, which knows by their addresses where they are.
  return ToStatus(cudaMemcpyAsync(device, from, bytes, cudaMemcpyDefault, compute_.get()),
                  "cudaMemcpyAsync to the device");
}

absl::Status CudaQueue::CopyToHost(std::byte* host, const std::byte* device, size_t bytes) {
  TD_RETURN_IF_ERROR(ToStatus(cudaSetDevice(device_), "cudaSetDevice"));
  TD_RETURN_IF_ERROR(ToStatus(cudaEventRecord(order_.get(), compute_.get()), "cudaEventRecord"));
  TD_RETURN_IF_ERROR(
      ToStatus(cudaStreamWaitEvent(copy_out_.get(), order_.get(), 0), "cudaStreamWaitEvent"));
  return ToStatus(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, copy_out_.get()),
                  "cudaMemcpyAsync to the host");
}

absl::Status CudaQueue::Crc32c(uint32_t* crc, std::span<const std::byte> payload) {
  if (reinterpret_cast<uintptr_t>(payload.data()) % sizeof(crc::Word) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Crc32c: the payload does not start at a multiple of ", sizeof(crc::Word)));
  }
  TD_RETURN_IF_ERROR(ToStatus(cudaSetDevice(device_), "cudaSetDevice"));
  auto* scratch = reinterpret_cast<Crc32cScratch*>(scratch_->window().bytes.data());
  return ToStatus(LaunchCrc32c(payload.data(), payload.size(), scratch, crc, compute_.get()),
                  "launch of the CRC32C kernel");
}

void CudaQueue::Then(Callback callback) {
  absl::StatusOr<UniqueEvent> end = RecordEnd();
  Waiting waiting;
  waiting.failed = end.status();
  if (end.ok()) waiting.event = *std::move(end);
  waiting.callback = std::move(callback);
  absl::MutexLock lock(&mutex_);
  waiting_.push_back(std::move(waiting));
}

absl::StatusOr<UniqueEvent> CudaQueue::RecordEnd() {
  TD_RETURN_IF_ERROR(ToStatus(cudaSetDevice(device_), "cudaSetDevice"));
  TD_RETURN_IF_ERROR(ToStatus(cudaEventRecord(order_.get(), compute_.get()), "cudaEventRecord"));
  TD_RETURN_IF_ERROR(
      ToStatus(cudaStreamWaitEvent(copy_out_.get(), order_.get(), 0), "cudaStreamWaitEvent"));
  TD_ASSIGN_OR_RETURN(UniqueEvent event, TakeEvent());
  TD_RETURN_IF_ERROR(ToStatus(cudaEventRecord(event.get(), copy_out_.get()), "cudaEventRecord"));
  return event;
}

absl::StatusOr<UniqueEvent> CudaQueue::TakeEvent() {
  {
    absl::MutexLock lock(&mutex_);
    if (!spare_events_.empty()) {
      UniqueEvent event = std::move(spare_events_.back());
      spare_events_.pop_back();
      return event;
    }
  }
  return CreateEvent();
}

void CudaQueue::RunCallbacks() {
  LogFailure(cudaSetDevice(device_), "cudaSetDevice");
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
    absl::Status status = next.failed;
    if (next.event != nullptr) {
      status = ToStatus(cudaEventSynchronize(next.event.get()), "cudaEventSynchronize");
      absl::MutexLock lock(&mutex_);
      spare_events_.push_back(std::move(next.event));
    }
    next.callback(std::move(status));
  }
}

}  // namespace tapedeck::gpu_worker::device::cuda
