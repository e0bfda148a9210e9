// tapedeck/v1/doctor.proto and services/observe/doctor/doctor.h.
#pragma once

#include "absl/status/statusor.h"
#include "services/observe/doctor/doctor.h"
#include "tapedeck/v1/doctor.pb.h"

namespace tapedeck::services::convert {

v1::DiagnoseRequest ToProto(const doctor::Request& request);
// INVALID_ARGUMENT (ARGUMENT_INVALID): too many peers, or one that is none.
absl::StatusOr<doctor::Request> FromProto(const v1::DiagnoseRequest& request);

v1::DiagnoseResponse ToProto(const doctor::Diagnosis& diagnosis);
absl::StatusOr<doctor::Diagnosis> FromProto(const v1::DiagnoseResponse& response);

}  // namespace tapedeck::services::convert
