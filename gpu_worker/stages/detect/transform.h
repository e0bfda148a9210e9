// The detect stage: leaves samples as they are, and triggers where the power in a band rises above
// a threshold. The power is that of one transform of `points` samples, |X|^2 added up over the
// band's bins and divided by `points` and the sum of the window's squares, which over all bins is
// the mean of |x|^2 (Parseval); what triggers is the first sample of a transform.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/detect/band.h"
#include "gpu_worker/stages/detect/parameters.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::detect {

// The bins nearest to the band's ends and those between, one at least.
Band BandOf(const Parameters& parameters);

// INVALID_ARGUMENT (ARGUMENT_INVALID) unless a block holds whole transforms; also the errors of
// list.h and of fft's.
absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformPlace& place);

}  // namespace tapedeck::gpu_worker::stages::detect
