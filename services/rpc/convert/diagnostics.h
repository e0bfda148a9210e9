// tapedeck/v1/doctor.proto and services/observe/doctor/doctor.h; tapedeck/v1/trace.proto and
// services/observe/flight/trace.h.
#pragma once

#include "absl/status/statusor.h"
#include "services/observe/doctor/doctor.h"
#include "services/observe/flight/trace.h"
#include "tapedeck/v1/doctor.pb.h"
#include "tapedeck/v1/trace.pb.h"

namespace tapedeck::services::convert {

v1::DiagnoseRequest ToProto(const doctor::Request& request);
// INVALID_ARGUMENT (ARGUMENT_INVALID): too many peers, or one that is none.
absl::StatusOr<doctor::Request> FromProto(const v1::DiagnoseRequest& request);

v1::DiagnoseResponse ToProto(const doctor::Diagnosis& diagnosis);
absl::StatusOr<doctor::Diagnosis> FromProto(const v1::DiagnoseResponse& response);

v1::ReadTraceRequest ToProto(const flight::TraceRequest& request);
absl::StatusOr<flight::TraceRequest> FromProto(const v1::ReadTraceRequest& request);

v1::ReadTraceResponse ToProto(const flight::TracePage& page);
absl::StatusOr<flight::TracePage> FromProto(const v1::ReadTraceResponse& response);

}  // namespace tapedeck::services::convert
