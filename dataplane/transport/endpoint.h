// The facts that two ends of a connection must exchange before they can connect. Plain values: only
// the transport that made one understands it, only services/rpc/convert puts it into a message.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "dataplane/memory/share.h"

namespace tapedeck::dataplane {

struct InprocEndpoint {
  uint64_t id = 0;
};

// `port` is 0 on the connecting side. The token, 128 random bits, admits one connection to one
// session. With `tls` both sides have one, and the listening side a secret: the keys of the
// connection are made of all three.
struct TcpEndpoint {
  std::string address;
  uint16_t port = 0;
  std::array<uint8_t, 16> token{};
  bool tls = false;  // what the connection carries is encrypted
  std::array<uint8_t, 32> secret{};
};

// One end of a connection over RDMA: its two queue pairs, one for messages and one for payloads,
// with the first packet sequence number of each (24 bits).
struct QueuePairEndpoint {
  uint32_t qp_num = 0;
  uint32_t psn = 0;
  uint32_t payload_qp_num = 0;
  uint32_t payload_psn = 0;
  std::array<uint8_t, 16> gid{};
  uint32_t mtu_bytes = 0;      // the largest path MTU it can use
  uint32_t max_rd_atomic = 0;  // reads it answers at the same time
};

// What the peer may do to a session's window: the least that the session's transfer op needs.
enum class RemoteAccess { kNone, kRead, kWrite };

// A remote window of slots, for one-sided operations.
struct RemoteWindow {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t key = 0;
};

// One end of a connection between processes of one machine: its window, how to open that, and the
// TCP connection that carries frames.
struct IpcEndpoint {
  TcpEndpoint wire;
  RemoteAccess access = RemoteAccess::kNone;  // kNone: it opens nothing, and the rest is empty
  RemoteWindow window;
  MemoryShare share;
  std::array<uint8_t, 16> name{};  // random bits, by which an end in the same process finds it
};

using Endpoint = std::variant<InprocEndpoint, TcpEndpoint, QueuePairEndpoint, IpcEndpoint>;

// Whether this end encrypts what the connection will carry.
inline bool Encrypts(const Endpoint& endpoint) {
  if (const auto* ipc = std::get_if<IpcEndpoint>(&endpoint)) return ipc->wire.tls;
  const auto* tcp = std::get_if<TcpEndpoint>(&endpoint);
  return tcp != nullptr && tcp->tls;
}

struct RemoteSlice {
  uint64_t address = 0;
  uint32_t key = 0;
};

}  // namespace tapedeck::dataplane
