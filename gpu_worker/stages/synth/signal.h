// From parameters to a waveform; and the waveform computed on the CPU.
#pragma once

#include <span>
#include <vector>

#include "gpu_worker/stages/synth/parameters.h"
#include "gpu_worker/stages/synth/waveform.h"

namespace tapedeck::gpu_worker::stages::synth {

// Of parameters as Parse has read them.
Waveform WaveformOf(const Parameters& parameters);

// Computes samples on the calling thread; about 1 GB/s.
class Generator {
 public:
  explicit Generator(const Waveform& waveform);

  // out[i] = sample first + i.
  void Make(uint64_t first, std::span<Complex> out) const;

 private:
  void MakeInChunk(uint64_t first, std::span<Complex> out) const;

  const Waveform waveform_;
  std::vector<Complex> steps_;  // [tone][offset in chunk]
};

}  // namespace tapedeck::gpu_worker::stages::synth
