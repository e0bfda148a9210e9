// The one place where an absl::Status becomes a gRPC status and back. The reason travels as
// google.rpc.ErrorInfo inside a google.rpc.Status in the trailer grpc-status-details-bin (AIP-193).
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace tapedeck::services::convert {

grpc::Status ToGrpc(const absl::Status& status);

// Details that are missing, damaged or of another domain leave the status without a reason.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace tapedeck::services::convert
