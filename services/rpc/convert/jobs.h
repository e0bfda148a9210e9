// tapedeck/v1/pipeline.proto and inlet.proto, and services/model/seams/jobs.h and inlets.h.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/inlets.h"
#include "services/model/seams/jobs.h"
#include "services/model/words/stage_spec.h"
#include "services/rpc/convert/values/message.h"
#include "tapedeck/v1/inlet.pb.h"
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

v1::Inlet ToProto(const Inlet& inlet);
// INVALID_ARGUMENT (ARGUMENT_INVALID) for an unknown op.
absl::StatusOr<Inlet> FromProto(const v1::Inlet& inlet);

v1::StartReceiveRequest ToProto(const ReceiveSpec& spec);
// The same, and for a parameter without a value.
absl::StatusOr<ReceiveSpec> FromProto(const v1::StartReceiveRequest& request);

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
