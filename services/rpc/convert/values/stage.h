// Stages of jobs: tapedeck/v1/pipeline.proto's Stage and services/model/words/stage_spec.h.
#pragma once

#include "absl/status/statusor.h"
#include "services/model/words/stage_spec.h"
#include "tapedeck/v1/pipeline.pb.h"

namespace tapedeck::services::convert {

v1::Stage ToProto(const StageSpec& spec);
// INVALID_ARGUMENT (ARGUMENT_INVALID) for a parameter without a value, or with one of a kind that
// this version does not know.
absl::StatusOr<StageSpec> FromProto(const v1::Stage& stage);

}  // namespace tapedeck::services::convert
