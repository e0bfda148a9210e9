// tapedeck/v1/session.proto and services/session/protocol/messages.h: what the two ends of a
// session say.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/transport/endpoint.h"
#include "services/session/protocol/messages.h"
#include "tapedeck/v1/session.pb.h"

namespace tapedeck::services::convert {

// INVALID_ARGUMENT for a message that this end does not send, or that names an in-process endpoint.
absl::StatusOr<v1::TransferRequest> ToTransferRequest(const session::Message& message);
absl::StatusOr<v1::TransferResponse> ToTransferResponse(const session::Message& message);

// INVALID_ARGUMENT (PROTOCOL_VIOLATION) for an empty message, an unknown arm or a value out of
// range.
absl::StatusOr<session::Message> FromProto(const v1::TransferRequest& request);
absl::StatusOr<session::Message> FromProto(const v1::TransferResponse& response);

// How one end of a connection is written in a RailOffer: the one place a new transport's endpoint
// is added. INVALID_ARGUMENT for an in-process endpoint, which has no meaning elsewhere.
absl::Status SetEndpoint(const dataplane::Endpoint& endpoint, v1::RailOffer& offer);

// INVALID_ARGUMENT (PROTOCOL_VIOLATION) for an absent or malformed endpoint, or one of a transport
// that this build lacks.
absl::StatusOr<dataplane::Endpoint> EndpointOf(const v1::RailOffer& offer);

}  // namespace tapedeck::services::convert
