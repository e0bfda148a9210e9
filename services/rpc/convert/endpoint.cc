#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/rpc/convert/session.h"
#include "services/rpc/convert/values/fields.h"

namespace tapedeck::services::convert {
namespace {

using dataplane::MemoryShare;
using dataplane::RemoteAccess;

template <size_t size>
std::string BytesOf(const std::array<uint8_t, size>& bytes) {
  return std::string(bytes.begin(), bytes.end());
}

void WriteTcp(const dataplane::TcpEndpoint& endpoint, v1::TcpEndpoint& tcp) {
  tcp.set_address(endpoint.address);
  tcp.set_port(endpoint.port);
  tcp.set_token(BytesOf(endpoint.token));
  tcp.set_tls(endpoint.tls);
  if (endpoint.tls && endpoint.port != 0) tcp.set_secret(BytesOf(endpoint.secret));
}

void WriteShare(const MemoryShare& share, v1::IpcEndpoint& ipc) {
  if (share.kind == MemoryShare::Kind::kMemfd) {
    ipc.mutable_memfd()->set_pid(share.pid);
    ipc.mutable_memfd()->set_fd(share.fd);
    ipc.mutable_memfd()->set_name(BytesOf(share.name));
  } else if (share.kind == MemoryShare::Kind::kCuda) {
    ipc.mutable_cuda()->set_handle(BytesOf(share.handle));
    ipc.mutable_cuda()->set_device_uuid(BytesOf(share.device_uuid));
  }
}

struct EndpointWriter {
  v1::RailOffer& offer;

  absl::Status operator()(const dataplane::InprocEndpoint&) const {
    return absl::InvalidArgumentError(
        "RailOffer: an inproc endpoint cannot leave its process; use a tcp or verbs rail");
  }

  absl::Status operator()(const dataplane::TcpEndpoint& endpoint) const {
    WriteTcp(endpoint, *offer.mutable_tcp());
    return absl::OkStatus();
  }

  absl::Status operator()(const dataplane::IpcEndpoint& endpoint) const {
    v1::IpcEndpoint& ipc = *offer.mutable_ipc();
    WriteTcp(endpoint.wire, *ipc.mutable_wire());
    if (endpoint.access == RemoteAccess::kNone) return absl::OkStatus();
    ipc.set_access(endpoint.access == RemoteAccess::kRead ? v1::IpcEndpoint::ACCESS_READ
                                                          : v1::IpcEndpoint::ACCESS_WRITE);
    ipc.set_name(BytesOf(endpoint.name));
    WriteShare(endpoint.share, ipc);
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

// The bytes of a field that has a fixed length.
template <size_t size>
absl::Status ReadBytes(const std::string& bytes, const char* message, const char* field,
                       std::array<uint8_t, size>& out) {
  if (bytes.size() != size) {
    return ProtocolError(message, field, absl::StrCat("is not ", size, " bytes long"));
  }
  std::ranges::copy(bytes, out.begin());
  return absl::OkStatus();
}

absl::StatusOr<dataplane::TcpEndpoint> FromTcp(const v1::TcpEndpoint& tcp) {
  dataplane::TcpEndpoint out{.address = tcp.address()};
  if (tcp.port() > UINT16_MAX) return ProtocolError("TcpEndpoint", "port", "is over 65535");
  out.port = static_cast<uint16_t>(tcp.port());
  TD_RETURN_IF_ERROR(ReadBytes(tcp.token(), "TcpEndpoint", "token", out.token));
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
  TD_RETURN_IF_ERROR(ReadBytes(pair.gid(), "QueuePair", "gid", out.gid));
  return out;
}

absl::StatusOr<MemoryShare> ShareOf(const v1::IpcEndpoint& ipc, uint64_t bytes) {
  MemoryShare share{.bytes = bytes};
  switch (ipc.share_case()) {
    case v1::IpcEndpoint::kMemfd:
      share.kind = MemoryShare::Kind::kMemfd;
      share.pid = ipc.memfd().pid();
      share.fd = ipc.memfd().fd();
      if (share.pid <= 0) return ProtocolError("IpcEndpoint", "memfd.pid", "is not positive");
      if (share.fd < 0) return ProtocolError("IpcEndpoint", "memfd.fd", "is negative");
      TD_RETURN_IF_ERROR(ReadBytes(ipc.memfd().name(), "IpcEndpoint", "memfd.name", share.name));
      break;
    case v1::IpcEndpoint::kCuda:
      share.kind = MemoryShare::Kind::kCuda;
      TD_RETURN_IF_ERROR(
          ReadBytes(ipc.cuda().handle(), "IpcEndpoint", "cuda.handle", share.handle));
      TD_RETURN_IF_ERROR(ReadBytes(ipc.cuda().device_uuid(), "IpcEndpoint", "cuda.device_uuid",
                                   share.device_uuid));
      break;
    case v1::IpcEndpoint::SHARE_NOT_SET:
      break;
  }
  return share;
}

absl::StatusOr<dataplane::Endpoint> FromIpc(const v1::RailOffer& offer) {
  const v1::IpcEndpoint& ipc = offer.ipc();
  dataplane::IpcEndpoint out;
  TD_ASSIGN_OR_RETURN(out.wire, FromTcp(ipc.wire()));
  if (ipc.access() == v1::IpcEndpoint::ACCESS_UNSPECIFIED) return out;
  if (ipc.access() != v1::IpcEndpoint::ACCESS_READ &&
      ipc.access() != v1::IpcEndpoint::ACCESS_WRITE) {
    return ProtocolError("IpcEndpoint", "access", "is unknown");
  }
  out.access =
      ipc.access() == v1::IpcEndpoint::ACCESS_READ ? RemoteAccess::kRead : RemoteAccess::kWrite;
  out.window = {.address = offer.region().address(),
                .bytes = offer.region().bytes(),
                .key = offer.region().rkey()};
  if (out.window.bytes == 0) return ProtocolError("RailOffer", "region", "is empty");
  TD_RETURN_IF_ERROR(ReadBytes(ipc.name(), "IpcEndpoint", "name", out.name));
  TD_ASSIGN_OR_RETURN(out.share, ShareOf(ipc, out.window.bytes));
  return out;
}

}  // namespace

absl::Status SetEndpoint(const dataplane::Endpoint& endpoint, v1::RailOffer& offer) {
  return std::visit(EndpointWriter{offer}, endpoint);
}

absl::StatusOr<dataplane::Endpoint> EndpointOf(const v1::RailOffer& offer) {
  switch (offer.endpoint_case()) {
    case v1::RailOffer::kTcp: {
      TD_ASSIGN_OR_RETURN(const dataplane::TcpEndpoint tcp, FromTcp(offer.tcp()));
      return tcp;
    }
    case v1::RailOffer::kIpc:
      return FromIpc(offer);
    case v1::RailOffer::kQueuePair:
      return FromQueuePair(offer.queue_pair());
    case v1::RailOffer::ENDPOINT_NOT_SET:
      break;
  }
  return ProtocolError("RailOffer", "endpoint", "is of an unknown transport");
}

}  // namespace tapedeck::services::convert
