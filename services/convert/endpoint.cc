#include "services/convert/endpoint.h"

#include <algorithm>
#include <bit>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "services/convert/fields.h"

namespace tapedeck::services::convert {
namespace {

struct EndpointWriter {
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
    tcp.set_tls(endpoint.tls);
    if (endpoint.tls && endpoint.port != 0) {
      tcp.set_secret(std::string(endpoint.secret.begin(), endpoint.secret.end()));
    }
    return absl::OkStatus();
  }

  absl::Status operator()(const dataplane::QueuePairEndpoint& endpoint) const {
    v1::QueuePair& pair = *offer.mutable_queue_pair();
    pair.set_qp_num(endpoint.qp_num);
    pair.set_psn(endpoint.psn);
    pair.set_payload_qp_num(endpoint.payload_qp_num);
    pair.set_payload_psn(endpoint.payload_psn);
    pair.set_gid(std::string(endpoint.gid.begin(), endpoint.gid.end()));
    pair.set_mtu_bytes(endpoint.mtu_bytes);
    pair.set_max_rd_atomic(endpoint.max_rd_atomic);
    return absl::OkStatus();
  }
};

absl::StatusOr<dataplane::Endpoint> FromTcp(const v1::TcpEndpoint& tcp) {
  dataplane::TcpEndpoint out{.address = tcp.address()};
  if (tcp.port() > UINT16_MAX) return ProtocolError("TcpEndpoint", "port", "is over 65535");
  out.port = static_cast<uint16_t>(tcp.port());
  if (tcp.token().size() != out.token.size()) {
    return ProtocolError("TcpEndpoint", "token", "is not 16 bytes long");
  }
  std::copy(tcp.token().begin(), tcp.token().end(), out.token.begin());
  out.tls = tcp.tls();
  const size_t secret_bytes = out.tls && out.port != 0 ? out.secret.size() : 0;
  if (tcp.secret().size() != secret_bytes) {
    return ProtocolError("TcpEndpoint", "secret",
                         absl::StrCat("is not ", secret_bytes, " bytes long"));
  }
  std::copy(tcp.secret().begin(), tcp.secret().end(), out.secret.begin());
  return out;
}

absl::StatusOr<dataplane::Endpoint> FromQueuePair(const v1::QueuePair& pair) {
  // InfiniBand Architecture vol. 1: queue pair and sequence numbers have 24 bits, and queue pairs 0
  // and 1 are the port's own; a path MTU is a power of two from 256 to 4096.
  constexpr uint32_t k24Bits = 0xffffff;
  dataplane::QueuePairEndpoint out{.qp_num = pair.qp_num(),
                                   .psn = pair.psn(),
                                   .payload_qp_num = pair.payload_qp_num(),
                                   .payload_psn = pair.payload_psn(),
                                   .mtu_bytes = pair.mtu_bytes(),
                                   .max_rd_atomic = pair.max_rd_atomic()};
  for (const uint32_t number : {out.qp_num, out.payload_qp_num}) {
    if (number < 2 || number > k24Bits) {
      return ProtocolError("QueuePair", "qp_num", "is not 2 to 16777215");
    }
  }
  if (out.psn > k24Bits || out.payload_psn > k24Bits) {
    return ProtocolError("QueuePair", "psn", "is over 16777215");
  }
  if (!std::has_single_bit(out.mtu_bytes) || out.mtu_bytes < 256 || out.mtu_bytes > 4096) {
    return ProtocolError("QueuePair", "mtu_bytes", "is not 256, 512, 1024, 2048 or 4096");
  }
  if (out.max_rd_atomic > UINT8_MAX) {
    return ProtocolError("QueuePair", "max_rd_atomic", "is over 255");
  }
  if (pair.gid().size() != out.gid.size()) {
    return ProtocolError("QueuePair", "gid", "is not 16 bytes long");
  }
  std::copy(pair.gid().begin(), pair.gid().end(), out.gid.begin());
  return out;
}

}  // namespace

absl::Status SetEndpoint(const dataplane::Endpoint& endpoint, v1::RailOffer& offer) {
  return std::visit(EndpointWriter{offer}, endpoint);
}

absl::StatusOr<dataplane::Endpoint> EndpointOf(const v1::RailOffer& offer) {
  switch (offer.endpoint_case()) {
    case v1::RailOffer::kTcp:
      return FromTcp(offer.tcp());
    case v1::RailOffer::kQueuePair:
      return FromQueuePair(offer.queue_pair());
    case v1::RailOffer::ENDPOINT_NOT_SET:
      break;
  }
  return ProtocolError("RailOffer", "endpoint", "is of no known transport");
}

}  // namespace tapedeck::services::convert
