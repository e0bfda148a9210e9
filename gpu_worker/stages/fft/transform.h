// The fft stage: transforms a block's cf32_le samples in runs of `points`, weighed by a window
// where there is one.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/fft/parameters.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::fft {

// INVALID_ARGUMENT (ARGUMENT_INVALID) unless a block holds whole transforms; also the errors of
// Create in list.h.
absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformPlace& place);

}  // namespace tapedeck::gpu_worker::stages::fft
