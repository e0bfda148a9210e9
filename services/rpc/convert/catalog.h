// tapedeck/v1/catalog.proto and services/model/seams/catalog.h.
#pragma once

#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "tapedeck/v1/catalog.pb.h"

namespace tapedeck::services::convert {

// What is not set is as in a new struct of the model.
v1::Lun ToProto(const Lun& lun);
absl::StatusOr<Lun> FromProto(const v1::Lun& lun);

v1::Channel ToProto(const Channel& channel);
absl::StatusOr<Channel> FromProto(const v1::Channel& channel);

// Without a request_id.
v1::UpdateLunRequest ToProto(const LunUpdate& update);
v1::UpdateChannelRequest ToProto(const ChannelUpdate& update);
v1::UpdateRecordingRequest ToProto(const RecordingUpdate& update);
// ARGUMENT_INVALID if the mask is empty, or names a field that there is none of or that stays as it
// was made, and why it does.
absl::StatusOr<LunUpdate> FromProto(const v1::UpdateLunRequest& request);
absl::StatusOr<ChannelUpdate> FromProto(const v1::UpdateChannelRequest& request);
absl::StatusOr<RecordingUpdate> FromProto(const v1::UpdateRecordingRequest& request);

v1::Recording ToProto(const Recording& recording);
absl::StatusOr<Recording> FromProto(const v1::Recording& recording);

v1::DamagedBlock ToProto(const DamagedBlock& block);
DamagedBlock FromProto(const v1::DamagedBlock& block);

v1::VerifyRecordingResponse ToProto(const VerifyProgress& progress);
VerifyProgress FromProto(const v1::VerifyRecordingResponse& response);

}  // namespace tapedeck::services::convert
