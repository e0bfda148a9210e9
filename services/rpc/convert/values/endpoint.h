// How one end of a connection is written in a RailOffer: the one place a new transport's endpoint
// is added.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/transport/endpoint.h"
#include "tapedeck/v1/session.pb.h"

namespace tapedeck::services::convert {

// INVALID_ARGUMENT for an in-process endpoint, which has no meaning elsewhere.
absl::Status SetEndpoint(const dataplane::Endpoint& endpoint, v1::RailOffer& offer);

// INVALID_ARGUMENT (PROTOCOL_VIOLATION) for an absent or malformed endpoint, or one of a transport
// that this build lacks.
absl::StatusOr<dataplane::Endpoint> EndpointOf(const v1::RailOffer& offer);

}  // namespace tapedeck::services::convert
