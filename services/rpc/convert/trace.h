// What the flight recorder gives, as messages and back.
#pragma once

#include "absl/status/statusor.h"
#include "services/observe/flight/trace.h"
#include "tapedeck/v1/trace.pb.h"

namespace tapedeck::services::convert {

v1::ReadTraceRequest ToProto(const flight::TraceRequest& request);
absl::StatusOr<flight::TraceRequest> FromProto(const v1::ReadTraceRequest& request);

v1::ReadTraceResponse ToProto(const flight::TracePage& page);
absl::StatusOr<flight::TracePage> FromProto(const v1::ReadTraceResponse& response);

}  // namespace tapedeck::services::convert
