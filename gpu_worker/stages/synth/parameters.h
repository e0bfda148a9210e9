// What the synth source is told, and what the origin of a recording keeps of it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::synth {

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

}  // namespace tapedeck::gpu_worker::stages::synth
