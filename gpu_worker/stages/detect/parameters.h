// What detect is told, and the label that keeps it with a recording.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::detect {

inline constexpr char kName[] = "detect";

struct Parameters {
  uint32_t points = 1024;  // of a transform, which is looked at as a whole; as of fft
  std::string window = "hann";
  // The band, as fractions of the sample rate: -0.5 to 0.5, the lower one first.
  double low = -0.5;
  double high = 0.5;
  // Decibels of the mean power in the band; 0 is that of a tone with amplitude 1. It must be told.
  double threshold = std::numeric_limits<double>::quiet_NaN();
  double hysteresis = 3;  // decibels below the threshold
  uint64_t hold_off = 0;  // samples
};

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);

Description Describe(const Parameters& parameters);

}  // namespace tapedeck::gpu_worker::stages::detect
