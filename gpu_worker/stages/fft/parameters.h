// What the fft transform is told, and the labels that keep it with a recording.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/fft/window.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::fft {

inline constexpr char kName[] = "fft";

struct Parameters {
  uint32_t points = 0;  // from kMinPoints to kMaxPoints
  std::string window = kNoWindow;
};

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);

Description Describe(const Parameters& parameters);

// INVALID_ARGUMENT (ARGUMENT_INVALID) if a label is missing or damaged.
absl::StatusOr<Parameters> FromLabels(const Labels& labels);

}  // namespace tapedeck::gpu_worker::stages::fft
