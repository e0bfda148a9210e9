// tapedeck/v1/catalog.proto and services/catalog.h.
#pragma once

#include "absl/status/statusor.h"
#include "services/catalog.h"
#include "tapedeck/v1/catalog.pb.h"

namespace tapedeck::services::convert {

// Unset ones are DURABLE and STOP.
absl::StatusOr<dataplane::CommitLevel> CommitLevelOf(v1::CommitLevel level);
absl::StatusOr<FullPolicy> FullPolicyOf(v1::FullPolicy policy);

v1::Lun ToProto(const Lun& lun);
absl::StatusOr<Lun> FromProto(const v1::Lun& lun);

v1::Channel ToProto(const Channel& channel);
// An unset commit level is DURABLE, an unset op is no choice.
absl::StatusOr<Channel> FromProto(const v1::Channel& channel);

v1::Recording ToProto(const Recording& recording);
absl::StatusOr<Recording> FromProto(const v1::Recording& recording);

v1::DamagedBlock ToProto(const DamagedBlock& block);
DamagedBlock FromProto(const v1::DamagedBlock& block);

v1::VerifyRecordingResponse ToProto(const VerifyProgress& progress);
VerifyProgress FromProto(const v1::VerifyRecordingResponse& response);

}  // namespace tapedeck::services::convert
