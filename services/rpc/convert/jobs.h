// tapedeck/v1/pipeline.proto and services/model/seams/jobs.h.
#pragma once

#include "absl/status/statusor.h"
#include "services/model/seams/jobs.h"
#include "tapedeck/v1/pipeline.pb.h"

namespace tapedeck::services::convert {

v1::StartRecordRequest ToProto(const RecordSpec& spec);
// INVALID_ARGUMENT (ARGUMENT_INVALID) for a parameter without a value, or an unknown op.
absl::StatusOr<RecordSpec> FromProto(const v1::StartRecordRequest& request);

v1::StartPlaybackRequest ToProto(const PlaybackSpec& spec);
// The same errors.
absl::StatusOr<PlaybackSpec> FromProto(const v1::StartPlaybackRequest& request);

// Rates are bytes over elapsed; the way back computes a rail's bytes from its rate. The same errors
// for a direction or a state that is not set or not known.
v1::Job ToProto(const Job& job);
absl::StatusOr<Job> FromProto(const v1::Job& job);

}  // namespace tapedeck::services::convert
