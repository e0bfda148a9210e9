#include "gpu_worker/stages/synth/cuda/kernel.h"

namespace tapedeck::gpu_worker::stages::synth::cuda {
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

}  // namespace

cudaError_t LaunchSynth(const Waveform& waveform, const Complex* steps, uint64_t first,
                        Complex* out, uint64_t samples, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((samples + kChunk - 1) / kChunk);
  SynthKernel<<<blocks, kChunk, 0, stream>>>(waveform, steps, first, out, samples);
  return cudaGetLastError();
}

}  // namespace tapedeck::gpu_worker::stages::synth::cuda
