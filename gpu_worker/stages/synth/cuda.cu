#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

#include "dataplane/memory/cuda/status.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/synth/source.h"

namespace tapedeck::gpu_worker::stages::synth::cuda {

using dataplane::cuda::ToStatus;

namespace {

// One block of threads per chunk, one thread per sample.
__global__ void SynthKernel(Waveform waveform, const Complex* steps, uint64_t first, Complex* out,
                            uint64_t samples) {
  __shared__ Complex starts[kMaxTones];
  if (threadIdx.x < waveform.tones) {
    starts[threadIdx.x] = ChunkStart(waveform, threadIdx.x, first / kChunk + blockIdx.x);
  }
  __syncthreads();
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * kChunk + threadIdx.x;
  if (i >= samples) return;
  Complex sum = ScaledNoise(waveform, first + i);
  for (uint32_t tone = 0; tone < waveform.tones; ++tone) {
    sum = AddTone(sum, starts[tone], steps[tone * kChunk + threadIdx.x]);
  }
  out[i] = sum;
}

// Enqueues out[i] = sample first + i for i < samples. `first` is a multiple of kChunk; `out` and
// `steps` ([tone][kChunk]) are device memory.
cudaError_t LaunchSynth(const Waveform& waveform, const Complex* steps, uint64_t first,
                        Complex* out, uint64_t samples, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((samples + kChunk - 1) / kChunk);
  SynthKernel<<<blocks, kChunk, 0, stream>>>(waveform, steps, first, out, samples);
  return cudaGetLastError();
}

class CudaSource final : public SourceStage {
 public:
  CudaSource(const Waveform& waveform, std::unique_ptr<dataplane::Memory> steps)
      : waveform_(waveform), steps_(std::move(steps)) {}

  bool fills_host() const override { return false; }

  // A channel's blocks are multiples of 4096 bytes, so that those of a source have a multiple of
  // 256 samples, whatever becomes of them: each starts on a chunk.
  absl::StatusOr<Filled> Fill(const Slot& slot, device::Queue& queue) override {
    const size_t samples = slot.device.size() / sizeof(Complex);
    const auto* steps = reinterpret_cast<const Complex*>(steps_->window().bytes.data());
    TD_RETURN_IF_ERROR(ToStatus(LaunchSynth(waveform_, steps, slot.sequence * samples,
                                            reinterpret_cast<Complex*>(slot.device.data()), samples,
                                            static_cast<cudaStream_t>(queue.native())),
                                "launch of the synth kernel"));
    return Filled{.bytes = samples * sizeof(Complex)};
  }

 private:
  const Waveform waveform_;
  const std::unique_ptr<dataplane::Memory> steps_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SourceStage>> Create(const Waveform& waveform,
                                                    device::Device& device) {
  std::vector<Complex> steps;
  for (uint32_t tone = 0; tone < waveform.tones; ++tone) {
    for (uint32_t i = 0; i < kChunk; ++i) steps.push_back(Step(waveform, tone, i));
  }
  const size_t bytes = std::max<size_t>(steps.size(), 1) * sizeof(Complex);
  TD_ASSIGN_OR_RETURN(auto memory, device.NewDeviceMemory(bytes));
  if (!steps.empty()) {
    TD_RETURN_IF_ERROR(ToStatus(
        cudaMemcpy(memory->window().bytes.data(), steps.data(), bytes, cudaMemcpyHostToDevice),
        "cudaMemcpy of the synth steps"));
    // The copy of pageable memory may still be on its way, and the queue's streams wait for nobody.
    TD_RETURN_IF_ERROR(ToStatus(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"));
  }
  return std::make_unique<CudaSource>(waveform, std::move(memory));
}

}  // namespace tapedeck::gpu_worker::stages::synth::cuda
