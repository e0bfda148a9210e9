// The synth source: cf32_le samples, made on the device.
#pragma once

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"
#include "gpu_worker/stages/synth/parameters.h"

namespace tapedeck::gpu_worker::stages::synth {

// INVALID_ARGUMENT (ARGUMENT_INVALID) for a channel of another datatype; also the errors of
// CreateSource in list.h.
absl::StatusOr<MadeSource> Create(const Parameters& parameters, const SourcePlace& place);

}  // namespace tapedeck::gpu_worker::stages::synth
