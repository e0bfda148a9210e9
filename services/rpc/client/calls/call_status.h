// What the end of a call means for the caller.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace tapedeck::services::client {

// Whether the node had answered before the call failed.
enum class Contact { kUnknown, kMade };

// The error the node gave, with its reason; or, where the failure is gRPC's own, an error that
// names the node: NODE_UNREACHABLE, or PEER_LOST after contact was made.
absl::Status CallStatus(const grpc::Status& status, const std::string& node,
                        Contact contact = Contact::kUnknown);

}  // namespace tapedeck::services::client
