#include "tests/gpu_worker/device/plain_cuda.h"

#include <cuda_runtime_api.h>

#include <memory>

#include "dataplane/memory/cuda/status.h"
#include "dataplane/memory/memory.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/cufft/library.h"
#include "gpu_worker/stages/list.h"
#include "tests/gpu_worker/jobs.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::cuda::ToStatus;
using stages::fft::cufft::Library;

constexpr uint32_t kPoints = 1024;
constexpr size_t kSampleBytes = 8;
// More than the caches of a GPU hold.
constexpr uint64_t kBlocks = 128;
constexpr int kRounds = 8;

// Of a stream's work between two calls.
class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
    cudaEventCreate(&begin_);
    cudaEventCreate(&end_);
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  absl::Status Start() { return ToStatus(cudaEventRecord(begin_, stream_), "cudaEventRecord"); }

  // Waits for it.
  absl::StatusOr<double> Seconds() {
    TD_RETURN_IF_ERROR(ToStatus(cudaEventRecord(end_, stream_), "cudaEventRecord"));
    TD_RETURN_IF_ERROR(ToStatus(cudaEventSynchronize(end_), "cudaEventSynchronize"));
    float ms = 0;
    TD_RETURN_IF_ERROR(ToStatus(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime"));
    return ms / 1e3;
  }

 private:
  const cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

class Plain {
 public:
  Plain(device::Device& device, device::Queue& queue, size_t block_bytes)
      : device_(device), queue_(queue), block_bytes_(block_bytes) {}

  absl::Status MakeMemory() {
    TD_ASSIGN_OR_RETURN(on_device_, device_.NewDeviceMemory(block_bytes_ * kBlocks));
    TD_ASSIGN_OR_RETURN(on_host_, device_.NewHostMemory(block_bytes_ * kBlocks));
    // Numbers other than 0.
    return ToStatus(
        cudaMemsetAsync(on_device_->window().bytes.data(), 0x3c, block_bytes_ * kBlocks, stream()),
        "cudaMemsetAsync");
  }

  absl::StatusOr<double> Copies(cudaMemcpyKind kind, uint64_t blocks) {
    const bool out = kind == cudaMemcpyDeviceToHost;
    const dataplane::Memory& to = out ? *on_host_ : *on_device_;
    const dataplane::Memory& from = out ? *on_device_ : *on_host_;
    Stopwatch watch(stream());
    TD_RETURN_IF_ERROR(watch.Start());
    for (uint64_t i = 0; i < blocks; ++i) {
      TD_RETURN_IF_ERROR(
          ToStatus(cudaMemcpyAsync(Block(to, i), Block(from, i), block_bytes_, kind, stream()),
                   "cudaMemcpyAsync"));
    }
    return Rate(watch, blocks);
  }

  absl::StatusOr<double> CufftAlone() {
    TD_ASSIGN_OR_RETURN(const Library library, stages::fft::cufft::Load());
    int points = kPoints;
    cufftHandle plan = 0;
    TD_RETURN_IF_ERROR(stages::fft::cufft::ToStatus(
        library.plan_many(&plan, 1, &points, nullptr, 1, points, nullptr, 1, points, CUFFT_C2C,
                          static_cast<int>(block_bytes_ / kSampleBytes / kPoints)),
        "cufftPlanMany"));
    TD_RETURN_IF_ERROR(
        stages::fft::cufft::ToStatus(library.set_stream(plan, stream()), "cufftSetStream"));
    auto rate = Graph([&](std::byte* block) {
      auto* samples = reinterpret_cast<cufftComplex*>(block);
      return stages::fft::cufft::ToStatus(library.exec_c2c(plan, samples, samples, CUFFT_FORWARD),
                                          "cufftExecC2C");
    });
    library.destroy(plan);
    return rate;
  }

  absl::StatusOr<double> OurFft() {
    TD_ASSIGN_OR_RETURN(const auto chosen, stages::ChooseTransform(Fft(kPoints)));
    TD_ASSIGN_OR_RETURN(
        const auto fft,
        chosen.create({.device = &device_, .queue = &queue_, .block_bytes = block_bytes_}));
    return Graph([&](std::byte* block) {
      const std::span bytes(block, block_bytes_);
      return fft->Apply(bytes, bytes);
    });
  }

 private:
  cudaStream_t stream() { return static_cast<cudaStream_t>(queue_.native()); }
  std::byte* Block(const dataplane::Memory& memory, uint64_t number) const {
    return memory.window().bytes.data() + number % kBlocks * block_bytes_;
  }

  absl::StatusOr<double> Rate(Stopwatch& watch, uint64_t blocks) const {
    TD_ASSIGN_OR_RETURN(const double seconds, watch.Seconds());
    return static_cast<double>(blocks * block_bytes_) / seconds / 1e6;
  }

  // Captured once and replayed, so that what the device does is timed and not its launches.
  template <typename Enqueue>
  absl::StatusOr<double> Graph(Enqueue enqueue) {
    TD_RETURN_IF_ERROR(enqueue(Block(*on_device_, 0)));  // what is made at the first call
    TD_RETURN_IF_ERROR(ToStatus(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeRelaxed),
                                "cudaStreamBeginCapture"));
    absl::Status status;
    for (uint64_t i = 0; i < kBlocks; ++i) status.Update(enqueue(Block(*on_device_, i)));
    cudaGraph_t graph = nullptr;
    status.Update(ToStatus(cudaStreamEndCapture(stream(), &graph), "cudaStreamEndCapture"));
    TD_RETURN_IF_ERROR(status);
    cudaGraphExec_t replayed = nullptr;
    status = ToStatus(cudaGraphInstantiate(&replayed, graph, 0), "cudaGraphInstantiate");
    cudaGraphDestroy(graph);
    TD_RETURN_IF_ERROR(status);
    auto rate = Replay(replayed);
    cudaGraphExecDestroy(replayed);
    return rate;
  }

  absl::StatusOr<double> Replay(cudaGraphExec_t graph) {
    TD_RETURN_IF_ERROR(ToStatus(cudaGraphLaunch(graph, stream()), "cudaGraphLaunch"));
    Stopwatch watch(stream());
    TD_RETURN_IF_ERROR(watch.Start());
    for (int i = 0; i < kRounds; ++i) {
      TD_RETURN_IF_ERROR(ToStatus(cudaGraphLaunch(graph, stream()), "cudaGraphLaunch"));
    }
    return Rate(watch, kRounds * kBlocks);
  }

  device::Device& device_;
  device::Queue& queue_;
  const size_t block_bytes_;
  std::unique_ptr<dataplane::Memory> on_device_;
  std::unique_ptr<dataplane::Memory> on_host_;
};

}  // namespace

absl::StatusOr<PlainRates> MeasurePlain(device::Device& device, size_t block_bytes,
                                        uint64_t blocks) {
  if (device.info().kind != "cuda") {
    return absl::FailedPreconditionError(device.info().name + " has no CUDA");
  }
  TD_ASSIGN_OR_RETURN(const auto queue, device.NewQueue());
  Plain plain(device, *queue, block_bytes);
  TD_RETURN_IF_ERROR(plain.MakeMemory());
  PlainRates rates;
  TD_ASSIGN_OR_RETURN(rates.copy_out, plain.Copies(cudaMemcpyDeviceToHost, blocks));
  TD_ASSIGN_OR_RETURN(rates.copy_in, plain.Copies(cudaMemcpyHostToDevice, blocks));
  TD_ASSIGN_OR_RETURN(rates.fft, plain.CufftAlone());
  TD_ASSIGN_OR_RETURN(rates.our_fft, plain.OurFft());
  return rates;
}

}  // namespace tapedeck::gpu_worker
