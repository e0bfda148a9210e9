// The null sink: drops what is played, in any order. On a GPU the payload ends in its memory.
#pragma once

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::null {

struct Parameters {};  // none

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);
Description Describe(const Parameters& parameters);
absl::StatusOr<MadeSink> Create(const Parameters& parameters, const SinkSetup& setup);

}  // namespace tapedeck::gpu_worker::stages::null
