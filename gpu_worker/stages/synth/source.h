// The synth source: cf32_le samples, made on the device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"
#include "gpu_worker/stages/synth/waveform.h"

namespace tapedeck::gpu_worker::stages::synth {

inline constexpr char kName[] = "synth";
inline constexpr char kMakes[] = "cf32_le";

struct Parameters {
  uint64_t seed = 1;
  std::vector<double> tones = {0.125, -0.25};  // fractions of the sample rate, -0.5 to 0.5
  double noise = 0.1;                          // its standard deviation per component, 0 to 1e6

  bool operator==(const Parameters&) const = default;
};

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);

// With parameters from which FromOrigin makes the same again, exactly.
Description Describe(const Parameters& parameters);

// INVALID_ARGUMENT (ARGUMENT_INVALID) if they are of another version of the signal, or damaged.
absl::StatusOr<Parameters> FromOrigin(const TextParameters& parameters);

// The errors of MakeFor. The place's device outlives the stage.
absl::StatusOr<MadeSource> Create(const Parameters& parameters, const SourceSetup& setup);

// Of parameters as Parse has read them.
Waveform WaveformOf(const Parameters& parameters);

// Computes samples on the calling thread.
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

namespace cuda {

// One kernel per block.
absl::StatusOr<std::unique_ptr<SourceStage>> Create(const Waveform& waveform,
                                                    device::Device& device);

}  // namespace cuda
}  // namespace tapedeck::gpu_worker::stages::synth
