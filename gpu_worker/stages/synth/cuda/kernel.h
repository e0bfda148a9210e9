// The launch of the synth kernel; free of Abseil, which device code does not compile.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu_worker/stages/synth/waveform.h"

namespace tapedeck::gpu_worker::stages::synth::cuda {

// Enqueues out[i] = sample first + i for i < samples. `first` is a multiple of kChunk; `out` and
// `steps` ([tone][kChunk]) are device memory.
cudaError_t LaunchSynth(const Waveform& waveform, const Complex* steps, uint64_t first,
                        Complex* out, uint64_t samples, cudaStream_t stream);

}  // namespace tapedeck::gpu_worker::stages::synth::cuda
