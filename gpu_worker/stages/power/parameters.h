// What the power transform is told, and what the origin of a recording keeps of it.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::power {

inline constexpr char kName[] = "power";
inline constexpr uint32_t kMostPoints = 65536;
inline constexpr uint32_t kMostAverage = 65536;

struct Parameters {
  uint32_t points = 0;  // of each transform, 1 to kMostPoints; 1: neighbouring samples are averaged
  uint32_t average = 1;  // transforms that make one, 1 to kMostAverage
};

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);

Description Describe(const Parameters& parameters);

// What Describe has told. INVALID_ARGUMENT (ARGUMENT_INVALID) if one is missing or damaged.
absl::StatusOr<Parameters> FromOrigin(const TextParameters& parameters);

}  // namespace tapedeck::gpu_worker::stages::power
