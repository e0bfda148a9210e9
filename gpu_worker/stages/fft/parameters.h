// What the fft transform is told, and what the origin of a recording keeps of it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"
#include "services/signal/samples/window.h"

namespace tapedeck::gpu_worker::stages::fft {

inline constexpr char kName[] = "fft";

struct Parameters {
  uint32_t points = 0;  // from kMinPoints to kMaxPoints
  std::string window = services::samples::kNoWindow;
};

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);

Description Describe(const Parameters& parameters);

// What Describe has told. INVALID_ARGUMENT (ARGUMENT_INVALID) if one is missing or damaged.
absl::StatusOr<Parameters> FromOrigin(const TextParameters& parameters);

}  // namespace tapedeck::gpu_worker::stages::fft
