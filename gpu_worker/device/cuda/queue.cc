#include "gpu_worker/device/cuda/queue.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/memory/cuda/memory.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::device::cuda {
namespace {

using dataplane::cuda::ToStatus;

// Of a sticky error the device's health has told.
void LogFailure(cudaError_t error, absl::string_view call) {
  if (error == cudaSuccess || dataplane::cuda::IsSticky(error)) return;
  dataplane::Log(dataplane::LogLevel::kError, "device/cuda", ToStatus(error, call).ToString());
}

absl::StatusOr<UniqueStream> CreateStream() {
  cudaStream_t stream = nullptr;
  TD_RETURN_IF_ERROR(ToStatus(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                              "cudaStreamCreateWithFlags"));
  return UniqueStream(stream);
}

absl::StatusOr<UniqueEvent> CreateEvent() {
  cudaEvent_t event = nullptr;
  TD_RETURN_IF_ERROR(ToStatus(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                              "cudaEventCreateWithFlags"));
  return UniqueEvent(event);
}

// The streams of Completions.
constexpr size_t kCompute = 0;
constexpr size_t kCopyOut = 1;

// Copies to the device from so many bytes on have a stream of their own: a smaller one takes less
// time than the calls that put two streams in order.
constexpr size_t kApartBytes = 256 << 10;

}  // namespace

void StreamDeleter::operator()(cudaStream_t stream) const {
  LogFailure(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

void EventDeleter::operator()(cudaEvent_t event) const {
  LogFailure(cudaEventDestroy(event), "cudaEventDestroy");
}

absl::StatusOr<std::unique_ptr<Queue>> CudaQueue::Create(int device, Health& health) {
  TD_RETURN_IF_ERROR(ToStatus(cudaSetDevice(device), "cudaSetDevice"));
  Parts parts;
  TD_ASSIGN_OR_RETURN(parts.copy_in, CreateStream());
  TD_ASSIGN_OR_RETURN(parts.compute, CreateStream());
  TD_ASSIGN_OR_RETURN(parts.copy_out, CreateStream());
  TD_ASSIGN_OR_RETURN(parts.order, CreateEvent());
  TD_ASSIGN_OR_RETURN(parts.scratch, dataplane::cuda::Create(sizeof(Crc32cScratch), device));
  auto* scratch = reinterpret_cast<Crc32cScratch*>(parts.scratch->window().bytes.data());
  TD_RETURN_IF_ERROR(ToStatus(LaunchCrc32cTables(scratch, parts.compute.get()),
                              "launch of the CRC32C tables' kernel"));
  std::unique_ptr<CudaQueue> queue(new CudaQueue(device, health, std::move(parts)));
  TD_ASSIGN_OR_RETURN(
      queue->completions_,
      Completions::Create(device, health, {queue->compute_.get(), queue->copy_out_.get()}));
  return std::unique_ptr<Queue>(std::move(queue));
}

CudaQueue::CudaQueue(int device, Health& health, Parts parts)
    : device_(device),
      health_(health),
      copy_in_(std::move(parts.copy_in)),
      compute_(std::move(parts.compute)),
      copy_out_(std::move(parts.copy_out)),
      order_(std::move(parts.order)),
      scratch_(std::move(parts.scratch)) {}

absl::Status CudaQueue::Checked(cudaError_t error, absl::string_view call) {
  return health_.Note(ToStatus(error, call));
}

void CudaQueue::LogUnlessOk(cudaError_t error, absl::string_view call) {
  static_cast<void>(Checked(error, call));
  LogFailure(error, call);
}

CudaQueue::~CudaQueue() {
  completions_.reset();
  // Work enqueued after the last Then still uses memory that its owner frees next.
  LogUnlessOk(cudaSetDevice(device_), "cudaSetDevice");
  LogUnlessOk(cudaStreamSynchronize(copy_in_.get()), "cudaStreamSynchronize");
  LogUnlessOk(cudaStreamSynchronize(compute_.get()), "cudaStreamSynchronize");
  LogUnlessOk(cudaStreamSynchronize(copy_out_.get()), "cudaStreamSynchronize");
}

absl::Status CudaQueue::Order(const UniqueStream& earlier, const UniqueStream& later) {
  TD_RETURN_IF_ERROR(Checked(cudaEventRecord(order_.get(), earlier.get()), "cudaEventRecord"));
  return Checked(cudaStreamWaitEvent(later.get(), order_.get(), 0), "cudaStreamWaitEvent");
}

absl::Status CudaQueue::OrderCopiesOut() {
  if (!std::exchange(computes_, false)) return absl::OkStatus();
  return Order(compute_, copy_out_);
}

void* CudaQueue::native() {
  LogUnlessOk(cudaSetDevice(device_), "cudaSetDevice");
  computes_ = true;
  return compute_.get();
}

absl::Status CudaQueue::Copy(Way way, std::byte* to, const std::byte* from, size_t bytes) {
  TD_RETURN_IF_ERROR(Checked(cudaSetDevice(device_), "cudaSetDevice"));
  if (way == Way::kToDevice) return CopyIn(to, from, bytes);
  if (way == Way::kToHost) return CopyOut(to, from, bytes);
  computes_ = true;
  return Checked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, compute_.get()),
                 "cudaMemcpyAsync on the device");
}

absl::Status CudaQueue::CopyIn(std::byte* device, const std::byte* host, size_t bytes) {
  const bool apart = bytes >= kApartBytes;
  const UniqueStream& stream = apart ? copy_in_ : compute_;
  TD_RETURN_IF_ERROR(
      Checked(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream.get()),
              "cudaMemcpyAsync to the device"));
  computes_ = true;
  return apart ? Order(copy_in_, compute_) : absl::OkStatus();
}

absl::Status CudaQueue::CopyOut(std::byte* host, const std::byte* device, size_t bytes) {
  TD_RETURN_IF_ERROR(OrderCopiesOut());
  copies_out_ = true;
  return Checked(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, copy_out_.get()),
                 "cudaMemcpyAsync to the host");
}

absl::Status CudaQueue::CrcsOfPieces(uint32_t* crcs, std::span<const std::byte> payload,
                                     size_t piece_bytes) {
  const bool several = payload.size() > piece_bytes;
  if (reinterpret_cast<uintptr_t>(payload.data()) % sizeof(crc::Word) != 0 ||
      (several && piece_bytes % sizeof(crc::Word) != 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "CrcsOfPieces: a piece does not start at a multiple of ", sizeof(crc::Word), " bytes"));
  }
  TD_RETURN_IF_ERROR(Checked(cudaSetDevice(device_), "cudaSetDevice"));
  computes_ = true;
  auto* scratch = reinterpret_cast<Crc32cScratch*>(scratch_->window().bytes.data());
  return Checked(LaunchCrc32c(reinterpret_cast<const unsigned char*>(payload.data()),
                              payload.size(), piece_bytes, scratch, crcs, compute_.get()),
                 "launch of the CRC32C kernel");
}

// Copies out of before the last Then have been waited for when this one's turn comes.
void CudaQueue::Then(Callback callback) {
  absl::Status enqueued = Checked(cudaSetDevice(device_), "cudaSetDevice");
  const bool copies_out = std::exchange(copies_out_, false);
  if (enqueued.ok() && copies_out) enqueued = OrderCopiesOut();
  completions_->Then(copies_out ? kCopyOut : kCompute, enqueued, std::move(callback));
}

}  // namespace tapedeck::gpu_worker::device::cuda
