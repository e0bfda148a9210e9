#include "gpu_worker/device/cuda/stream_order.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/memory/cuda/memory.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/cuda/copy_by_order.h"
#include "gpu_worker/device/cuda/queue.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::device::cuda {

using dataplane::cuda::FindDriverFunction;
using dataplane::cuda::ToStatus;

namespace {

static_assert(sizeof(OrderWords) == sizeof(CopyOrder));

absl::StatusOr<OrderDriver> FindDriver() {
  OrderDriver driver;
  TD_RETURN_IF_ERROR(FindDriverFunction("cuDevicePrimaryCtxRetain", 7000, &driver.retain));
  TD_RETURN_IF_ERROR(FindDriverFunction("cuDevicePrimaryCtxRelease", 11000, &driver.release));
  TD_RETURN_IF_ERROR(FindDriverFunction("cuDevicePrimaryCtxGetState", 7000, &driver.state));
  TD_RETURN_IF_ERROR(FindDriverFunction("cuCtxPushCurrent", 4000, &driver.push));
  TD_RETURN_IF_ERROR(FindDriverFunction("cuCtxPopCurrent", 4000, &driver.pop));
  TD_RETURN_IF_ERROR(FindDriverFunction("cuStreamGetCtx", 9020, &driver.stream_context));
  TD_RETURN_IF_ERROR(FindDriverFunction("cuStreamWaitValue64", 11070, &driver.wait));
  TD_RETURN_IF_ERROR(FindDriverFunction("cuStreamWriteValue64", 11070, &driver.write));
  return driver;
}

absl::Status ContextGone(absl::string_view call, int code) {
  return dataplane::DeviceFailed(
      /*device=*/"", absl::StrCat(call, ": the device's context was destroyed under the library (",
                                  code, "): close recorders and players before cudaDeviceReset"));
}

bool MeansContextGone(cudaError_t error) {
  return error == cudaErrorContextIsDestroyed || error == cudaErrorCudartUnloading ||
         error == cudaErrorDeviceUninitialized;
}

class EventMark final : public Mark {
 public:
  // `health` outlives it.
  EventMark(UniqueEvent event, const Health& health) : event_(std::move(event)), health_(health) {}
  // What went with its context must not be named to the driver again.
  ~EventMark() override {
    if (!health_.status().ok()) static_cast<void>(event_.release());
  }
  cudaEvent_t event() const { return event_.get(); }

 private:
  UniqueEvent event_;
  const Health& health_;
};

class RegisteredMemory final : public dataplane::Memory {
 public:
  explicit RegisteredMemory(std::unique_ptr<dataplane::Memory> memory)
      : memory_(std::move(memory)) {}
  // A context that is gone has let go of it already.
  ~RegisteredMemory() override {
    static_cast<void>(cudaHostUnregister(memory_->window().bytes.data()));
    static_cast<void>(cudaGetLastError());
  }
  dataplane::MemoryWindow window() const override { return memory_->window(); }

 private:
  const std::unique_ptr<dataplane::Memory> memory_;
};

cudaEvent_t EventOf(const Mark& mark) { return static_cast<const EventMark&>(mark).event(); }

CUdeviceptr AddressOf(const uint64_t* flag) { return reinterpret_cast<CUdeviceptr>(flag); }

}  // namespace

// The device's context for as long as this lives; then what the calling thread had before. A device
// that has failed is not asked again: the driver does not look whether what is named to it is gone.
class CudaStreamOrder::Current {
 public:
  explicit Current(const CudaStreamOrder& order)
      : driver_(order.driver_), status_(order.health_.status()) {
    if (status_.ok()) status_ = order.health_.Note(order.CheckContext());
    if (!status_.ok()) return;
    const CUresult result = driver_.push(order.context_);
    if (result != CUDA_SUCCESS) status_ = ContextGone("cuCtxPushCurrent", result);
    pushed_ = result == CUDA_SUCCESS;
  }
  ~Current() {
    CUcontext popped = nullptr;
    if (pushed_) static_cast<void>(driver_.pop(&popped));
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  const absl::Status& status() const { return status_; }

 private:
  const OrderDriver& driver_;
  absl::Status status_;
  bool pushed_ = false;
};

absl::StatusOr<std::unique_ptr<StreamOrder>> CudaStreamOrder::Create(int device, Health& health,
                                                                     size_t lanes) {
  TD_ASSIGN_OR_RETURN(const OrderDriver driver, FindDriver());
  CUcontext context = nullptr;
  if (const CUresult result = driver.retain(&context, device); result != CUDA_SUCCESS) {
    return ContextGone("cuDevicePrimaryCtxRetain", result);
  }
  std::unique_ptr<CudaStreamOrder> order(new CudaStreamOrder(device, health, driver, context));
  TD_RETURN_IF_ERROR(order->MakeLanes(lanes));
  return order;
}

CudaStreamOrder::~CudaStreamOrder() {
  {
    const Current current(*this);
    sums_.reset();
    tables_.reset();
  }
  static_cast<void>(driver_.release(device_));
}

absl::Status CudaStreamOrder::MakeLanes(size_t lanes) {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  TD_ASSIGN_OR_RETURN(tables_, dataplane::cuda::Create(sizeof(Crc32cScratch), device_));
  TD_ASSIGN_OR_RETURN(sums_, dataplane::cuda::Create(lanes * sizeof(Crc32cState), device_));
  const std::span<std::byte> sums = sums_->window().bytes;
  TD_ASSIGN_OR_RETURN(StreamHandle stream, NewStream());
  auto* const scratch = reinterpret_cast<Crc32cScratch*>(tables_->window().bytes.data());
  const auto native = static_cast<cudaStream_t>(stream);
  absl::Status done = Checked(cudaMemsetAsync(sums.data(), 0, sums.size(), native), "cudaMemset");
  done.Update(Checked(LaunchCrc32cTables(scratch, native), "launch of the CRC32C tables' kernel"));
  done.Update(Checked(cudaStreamSynchronize(native), "cudaStreamSynchronize"));
  DeleteStream(stream);
  return done;
}

absl::Status CudaStreamOrder::CheckContext() const {
  unsigned flags = 0;
  int active = 0;
  const CUresult result = driver_.state(device_, &flags, &active);
  if (result == CUDA_SUCCESS && active != 0) return absl::OkStatus();
  return ContextGone("cuDevicePrimaryCtxGetState", result);
}

absl::Status CudaStreamOrder::Checked(cudaError_t error, absl::string_view call) {
  if (MeansContextGone(error)) {
    static_cast<void>(cudaGetLastError());
    return health_.Note(ContextGone(call, error));
  }
  return health_.Note(ToStatus(error, call));
}

// The driver's numbers are the runtime's, which says of each what it means.
absl::Status CudaStreamOrder::Checked(CUresult result, absl::string_view call) {
  return Checked(static_cast<cudaError_t>(result), call);
}

absl::StatusOr<std::unique_ptr<dataplane::Memory>> CudaStreamOrder::NewFlags(size_t bytes) {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  int same_address = 0;
  TD_RETURN_IF_ERROR(Checked(
      cudaDeviceGetAttribute(&same_address, cudaDevAttrCanUseHostPointerForRegisteredMem, device_),
      "cudaDeviceGetAttribute(CanUseHostPointerForRegisteredMem)"));
  if (same_address == 0) {
    return absl::UnimplementedError("the device reaches host memory at other addresses");
  }
  TD_ASSIGN_OR_RETURN(auto memory, dataplane::host::Create(bytes));
  TD_RETURN_IF_ERROR(
      Checked(cudaHostRegister(memory->window().bytes.data(), bytes, cudaHostRegisterPortable),
              "cudaHostRegister"));
  return std::make_unique<RegisteredMemory>(std::move(memory));
}

absl::StatusOr<Capture> CudaStreamOrder::Check(StreamHandle stream) {
  const auto refuse = [](absl::string_view what) {
    return services::ArgumentInvalid("stream", what);
  };
  const auto native = static_cast<cudaStream_t>(stream);
  if (native == nullptr || native == cudaStreamLegacy || native == cudaStreamPerThread) {
    return refuse(
        "this is the default stream, whose waits hold up other streams; create one of its own");
  }
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  CUcontext context = nullptr;
  TD_RETURN_IF_ERROR(Checked(driver_.stream_context(native, &context), "cuStreamGetCtx"));
  if (context != context_) {
    return refuse(absl::StrCat("the stream belongs to another device than cuda:", device_,
                               ", or to another context than the CUDA runtime's"));
  }
  cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
  unsigned long long graph = 0;
  TD_RETURN_IF_ERROR(
      Checked(cudaStreamGetCaptureInfo(native, &state, &graph), "cudaStreamGetCaptureInfo"));
  if (state == cudaStreamCaptureStatusInvalidated) return refuse("the stream's capture is invalid");
  return Capture{.captures = state == cudaStreamCaptureStatusActive, .graph = graph};
}

absl::Status CudaStreamOrder::AwaitFlag(StreamHandle stream, uint64_t* flag, Until until) {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  const auto native = static_cast<CUstream>(stream);
  const CUresult result =
      until == Until::kZero
          ? driver_.wait(native, AddressOf(flag), 0, CU_STREAM_WAIT_VALUE_EQ)
          : driver_.wait(native, AddressOf(flag), ~uint64_t{0}, CU_STREAM_WAIT_VALUE_AND);
  return Checked(result, "cuStreamWaitValue64");
}

absl::Status CudaStreamOrder::SetFlag(StreamHandle stream, uint64_t* flag, uint64_t value) {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  return Checked(driver_.write(static_cast<CUstream>(stream), AddressOf(flag), value,
                               CU_STREAM_WRITE_VALUE_DEFAULT),
                 "cuStreamWriteValue64");
}

absl::Status CudaStreamOrder::CopyToHost(StreamHandle stream, std::byte* host,
                                         const std::byte* device, size_t bytes) {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  return Checked(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost,
                                 static_cast<cudaStream_t>(stream)),
                 "cudaMemcpyAsync to the host");
}

absl::Status CudaStreamOrder::CopyByOrder(StreamHandle stream, std::byte* device,
                                          const CopyOrder* order, size_t most) {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  return Checked(LaunchCopyByOrder(reinterpret_cast<unsigned char*>(device),
                                   reinterpret_cast<const OrderWords*>(order), most,
                                   static_cast<cudaStream_t>(stream)),
                 "launch of the copy's kernel");
}

absl::Status CudaStreamOrder::Crc32c(StreamHandle stream, uint32_t* crc,
                                     std::span<const std::byte> payload, size_t lane) {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  const auto* scratch = reinterpret_cast<const Crc32cScratch*>(tables_->window().bytes.data());
  auto* const sums = reinterpret_cast<Crc32cState*>(sums_->window().bytes.data()) + lane;
  return Checked(LaunchCrc32c(reinterpret_cast<const unsigned char*>(payload.data()),
                              payload.size(), std::max<size_t>(payload.size(), 1), &scratch->tables,
                              sums, crc, static_cast<cudaStream_t>(stream)),
                 "launch of the CRC32C kernel");
}

absl::StatusOr<std::unique_ptr<Mark>> CudaStreamOrder::NewMark() {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  cudaEvent_t event = nullptr;
  TD_RETURN_IF_ERROR(Checked(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                             "cudaEventCreateWithFlags"));
  return std::make_unique<EventMark>(UniqueEvent(event), health_);
}

absl::Status CudaStreamOrder::SetMark(StreamHandle stream, Mark& mark) {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  return Checked(cudaEventRecord(EventOf(mark), static_cast<cudaStream_t>(stream)),
                 "cudaEventRecord");
}

absl::Status CudaStreamOrder::AwaitMark(StreamHandle stream, Mark& mark) {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  return Checked(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), EventOf(mark), 0),
                 "cudaStreamWaitEvent");
}

absl::StatusOr<bool> CudaStreamOrder::Passed(const Mark& mark) {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  const cudaError_t error = cudaEventQuery(EventOf(mark));
  if (error == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());  // else it is kept for this thread
    return false;
  }
  TD_RETURN_IF_ERROR(Checked(error, "cudaEventQuery"));
  return true;
}

absl::StatusOr<StreamHandle> CudaStreamOrder::NewStream() {
  const Current current(*this);
  TD_RETURN_IF_ERROR(current.status());
  cudaStream_t stream = nullptr;
  TD_RETURN_IF_ERROR(Checked(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                             "cudaStreamCreateWithFlags"));
  return static_cast<StreamHandle>(stream);
}

void CudaStreamOrder::DeleteStream(StreamHandle stream) {
  const Current current(*this);
  if (!current.status().ok()) return;
  static_cast<void>(
      Checked(cudaStreamDestroy(static_cast<cudaStream_t>(stream)), "cudaStreamDestroy"));
}

}  // namespace tapedeck::gpu_worker::device::cuda
