// The power stage: |X|^2 of cf32_le samples, averaged bin by bin over `average` transforms that
// follow each other, as rf32_le. Sums are in double precision and in order, so that every device
// gives the same bits; a sample that is not a number makes its bin none.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"
#include "gpu_worker/stages/power/parameters.h"

namespace tapedeck::gpu_worker::stages::power {

// INVALID_ARGUMENT (ARGUMENT_INVALID) unless a block holds whole averages; also the errors of
// list.h.
absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformPlace& place);

}  // namespace tapedeck::gpu_worker::stages::power
