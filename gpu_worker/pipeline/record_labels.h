// What the stages of a recording tell of it.
#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::pipeline {

// Each label has one value, so that stages must not share one: INVALID_ARGUMENT (ARGUMENT_INVALID).
absl::StatusOr<stages::Labels> LabelsOf(const stages::ChosenSource& source,
                                        std::span<const stages::ChosenTransform> transforms);

}  // namespace tapedeck::gpu_worker::pipeline
