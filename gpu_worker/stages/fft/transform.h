// The fft stage: transforms a block's cf32_le samples in runs of `points`, weighed by a window
// where there is one.
#pragma once

#include <cstdint>
#include <memory>
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

// INVALID_ARGUMENT (ARGUMENT_INVALID) unless a block holds whole transforms; also the errors of
// Create in fft.h.
absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformSetup& setup);

}  // namespace tapedeck::gpu_worker::stages::fft
