// An absl::Status as the status of a gRPC call and back: its google.rpc.Status (fields.h)
// travels in the trailer grpc-status-details-bin.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace tapedeck::services::convert {

grpc::Status ToGrpc(const absl::Status& status);

// Details that are missing, damaged or of another domain leave the status without a reason.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace tapedeck::services::convert
