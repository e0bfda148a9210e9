// HOST:PORT as people write it, and IP addresses as sockets take them. This code looks up no name
// and never waits. Any thread.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "dataplane/fd.h"

struct addrinfo;

namespace tapedeck::dataplane {

// Views of the text that was split.
struct HostPort {
  absl::string_view host;  // with its brackets, if it has some
  absl::string_view port;

  // The host without brackets.
  absl::string_view bare() const;
};

// Splits at the last colon. Without a colon the whole text is the host.
HostPort SplitHostPort(absl::string_view text);

// 0 to 65535, of digits alone; else none.
std::optional<uint16_t> ParsePort(absl::string_view text);

// An IPv4 or IPv6 address with a port.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof(storage);

  SocketAddress() = default;
  explicit SocketAddress(const addrinfo& from);
  // Of 16 bytes of IPv6; ::ffff:A.B.C.D becomes IPv4.
  explicit SocketAddress(const std::array<uint8_t, 16>& v6);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  bool is_v6() const { return storage.ss_family == AF_INET6; }
  uint16_t port() const;  // 0 without an address
  void set_port(uint16_t port);
  // As 16 bytes of IPv6: IPv4 as ::ffff:A.B.C.D.
  std::array<uint8_t, 16> v6_bytes() const;
  // "10.0.0.7" or "fe80::1%eth0"; ::ffff:A.B.C.D is A.B.C.D. Empty without an address.
  std::string ip() const;
  // The same, IPv6 in brackets.
  std::string host() const;
  // "10.0.0.7:4711" or "[::1]:4711"; "unknown" without an address.
  std::string text() const;
};

// Of a numeric address without brackets; else none.
std::optional<SocketAddress> ParseIp(absl::string_view ip, uint16_t port = 0);

// Of A.B.C.D:PORT or [A::B]:PORT with a port from 1; else none.
std::optional<SocketAddress> ParseIpAndPort(absl::string_view text);

// The socket's own address, and its peer's; without an address if it has none (any more).
SocketAddress LocalAddress(const Fd& socket);
SocketAddress PeerAddress(const Fd& socket);

}  // namespace tapedeck::dataplane
