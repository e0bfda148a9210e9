// From a job's settings to a waveform, its labels and back; and the waveform computed on the CPU.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/synth/waveform.h"
#include "services/jobs.h"

namespace tapedeck::gpu_worker::stages::synth {

// INVALID_ARGUMENT (ARGUMENT_INVALID) if a tone, the noise or the number of tones is out of range.
absl::StatusOr<Waveform> Parameters(const services::SynthSpec& spec);

// Labels from which SpecFromLabels makes the same settings again, exactly.
std::map<std::string, std::string> Labels(const services::SynthSpec& spec);

// INVALID_ARGUMENT if the labels are of another version of the signal, or damaged.
absl::StatusOr<services::SynthSpec> SpecFromLabels(
    const std::map<std::string, std::string>& labels);

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
