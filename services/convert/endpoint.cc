#include "services/convert/endpoint.h"

#include <algorithm>
#include <string>
#include <variant>

#include "services/convert/fields.h"

namespace tapedeck::services::convert {
namespace {

struct Writer {
  v1::RailOffer& offer;

  absl::Status operator()(const dataplane::InprocEndpoint&) const {
    return absl::InvalidArgumentError(
        "RailOffer: an inproc endpoint cannot leave its process; use a tcp or verbs rail");
  }

  absl::Status operator()(const dataplane::TcpEndpoint& endpoint) const {
    v1::TcpEndpoint& tcp = *offer.mutable_tcp();
    tcp.set_address(endpoint.address);
    tcp.set_port(endpoint.port);
    tcp.set_token(std::string(endpoint.token.begin(), endpoint.token.end()));
    return absl::OkStatus();
  }
};

absl::StatusOr<dataplane::Endpoint> FromTcp(const v1::TcpEndpoint& tcp) {
  dataplane::TcpEndpoint out{.address = tcp.address()};
  if (tcp.port() > UINT16_MAX) return ProtocolError("TcpEndpoint", "has a port over 65535");
  out.port = static_cast<uint16_t>(tcp.port());
  if (tcp.token().size() != out.token.size()) {
    return ProtocolError("TcpEndpoint", "has a token that is not 16 bytes long");
  }
  std::copy(tcp.token().begin(), tcp.token().end(), out.token.begin());
  return out;
}

}  // namespace

absl::Status SetEndpoint(const dataplane::Endpoint& endpoint, v1::RailOffer& offer) {
  return std::visit(Writer{offer}, endpoint);
}

absl::StatusOr<dataplane::Endpoint> EndpointOf(const v1::RailOffer& offer) {
  switch (offer.endpoint_case()) {
    case v1::RailOffer::kTcp:
      return FromTcp(offer.tcp());
    case v1::RailOffer::kQueuePair:
      return ProtocolError("RailOffer", "names a queue pair, and this build has no verbs rails");
    case v1::RailOffer::ENDPOINT_NOT_SET:
      break;
  }
  return ProtocolError("RailOffer", "has no endpoint of a known transport");
}

}  // namespace tapedeck::services::convert
