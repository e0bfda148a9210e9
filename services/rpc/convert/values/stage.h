// Stages of jobs: tapedeck/v1/pipeline.proto's Stage and services/model/words/stage_spec.h.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/words/stage_spec.h"
#include "services/rpc/convert/values/message.h"
#include "tapedeck/v1/pipeline.pb.h"

namespace tapedeck::services::convert {

v1::Stage ToProto(const StageSpec& spec);
// INVALID_ARGUMENT (ARGUMENT_INVALID) for a parameter without a value, or with one of a kind that
// this version does not know.
absl::StatusOr<StageSpec> FromProto(const v1::Stage& stage);

// Of a list of fields; the same errors.
void WriteField(const StageSpec& stage, const WireField& to);
void WriteField(const std::vector<StageSpec>& stages, const WireField& to);
absl::Status ReadField(const ConstWireField& from, StageSpec& stage);
absl::Status ReadField(const ConstWireField& from, std::vector<StageSpec>& stages);

}  // namespace tapedeck::services::convert
