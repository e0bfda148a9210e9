// What two ends of a connection must tell each other before they can connect. Plain values: only
// the room that made one understands it, only services/convert puts it into a message.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>

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

using Endpoint = std::variant<InprocEndpoint, TcpEndpoint, QueuePairEndpoint>;

// Whether this end encrypts what the connection will carry.
inline bool Encrypts(const Endpoint& endpoint) {
  const auto* tcp = std::get_if<TcpEndpoint>(&endpoint);
  return tcp != nullptr && tcp->tls;
}

// A remote window of slots, for one-sided operations.
struct RemoteWindow {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t key = 0;
};

struct RemoteSlice {
  uint64_t address = 0;
  uint32_t key = 0;
};

}  // namespace tapedeck::dataplane
