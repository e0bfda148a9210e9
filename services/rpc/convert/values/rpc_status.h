// The one encoding of an absl::Status: google.rpc.Status, which carries the reason as a
// google.rpc.ErrorInfo (AIP-193). Calls send it in a trailer (status.h), jobs and sessions in a
// field.
#pragma once

#include "absl/status/status.h"
#include "google/rpc/status.pb.h"

namespace tapedeck::services::convert {

// Texts over 2 KiB are cut.
google::rpc::Status ToProto(const absl::Status& status);

// Details that are damaged or of another domain leave the status without a reason; a code that
// there is none of becomes UNKNOWN.
absl::Status FromProto(const google::rpc::Status& status);

}  // namespace tapedeck::services::convert
