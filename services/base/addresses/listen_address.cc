#include "services/base/addresses/listen_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services {

using dataplane::Fd;

namespace {

std::string Remedy(int error) {
  if (error == EADDRINUSE) return "; another process has the port: stop it or choose another port";
  if (error == EADDRNOTAVAIL) return "; give an address of this machine, or 0.0.0.0 for all";
  if (error == EACCES) return "; choose a port above 1023";
  return "";
}

absl::Status Failed(int error) {
  return absl::UnavailableError(absl::StrCat(strerror(error), Remedy(error)));
}

struct Address {
  sockaddr_storage storage{};
  socklen_t bytes = 0;

  explicit Address(const addrinfo& info) : bytes(info.ai_addrlen) {
    std::memcpy(&storage, info.ai_addr, bytes);
  }
  Address() : bytes(sizeof(storage)) {}
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  // In network order.
  in_port_t& port() {
    return storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(storage).sin6_port
                                         : reinterpret_cast<sockaddr_in&>(storage).sin_port;
  }
};

// `both_kinds`: of IPv6, and whoever calls by IPv4 too.
absl::StatusOr<Fd> TryListen(Address address, bool both_kinds = false) {
  Fd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return Failed(errno);
  const int on = 1, off = 0;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (both_kinds) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (bind(fd.get(), address.get(), address.bytes) != 0 || listen(fd.get(), SOMAXCONN) != 0) {
    return Failed(errno);
  }
  return fd;
}

struct Forget {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};
using Addresses = std::unique_ptr<addrinfo, Forget>;

// The error's text is what the system says, without the address.
absl::StatusOr<Addresses> Resolve(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  absl::string_view host = absl::string_view(listen).substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");

  const addrinfo hints{.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(std::string(host).c_str(), listen.c_str() + colon + 1, &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat(gai_strerror(error), "; expected HOST:PORT with a known host"));
  }
  return Addresses(found);
}

// Before it is bound: from then on datagrams come that others have joined for (ip(7)).
void ShareGroup(const Fd& fd, sa_family_t family) {
  const int on = 1, off = 0;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (family == AF_INET6) {
    setsockopt(fd.get(), IPPROTO_IPV6, IPV6_MULTICAST_ALL, &off, sizeof(off));
  } else {
    setsockopt(fd.get(), IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof(off));
  }
}

absl::StatusOr<Fd> ReceiveAt(const std::string& listen) {
  TD_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(listen));
  Address address(*addresses);
  Fd fd(socket(address.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() >= 0 && IsGroup(address.storage)) ShareGroup(fd, address.storage.ss_family);
  if (fd.get() < 0 || bind(fd.get(), address.get(), address.bytes) != 0) return Failed(errno);
  return fd;
}

absl::StatusOr<Fd> ListenAt(const std::string& listen) {
  TD_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(listen));
  return TryListen(Address(*addresses));
}

// The address that takes callers of both kinds, where `address` is either one's for all.
std::optional<Address> AnyOfBothKinds(Address address) {
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.storage);
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
  const bool any = address.storage.ss_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr)
                                                         : v4.sin_addr.s_addr == INADDR_ANY;
  if (!any) return std::nullopt;
  Address both;
  both.storage.ss_family = AF_INET6;
  both.bytes = sizeof(sockaddr_in6);
  both.port() = address.port();
  return both;
}

absl::StatusOr<std::vector<Fd>> TryListenAtAll(const std::string& listen) {
  TD_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(listen));
  std::vector<Fd> sockets;
  if (const auto both = AnyOfBothKinds(Address(*addresses)); both.has_value()) {
    if (auto socket = TryListen(*both, true); socket.ok()) {
      sockets.push_back(*std::move(socket));
      return sockets;
    }
  }
  absl::Status first;  // that was in the way
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    Address address(*each);
    if (!sockets.empty()) address.port() = htons(static_cast<uint16_t>(PortOf(sockets.front())));
    absl::StatusOr<Fd> socket = TryListen(address);
    if (socket.ok()) sockets.push_back(*std::move(socket));
    first.Update(socket.status());
  }
  if (sockets.empty()) return first;
  return sockets;
}

bool IsLoopbackAddress(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(v4.sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
  }
  if (address.sa_family != AF_INET6) return false;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

std::string About(const std::string& listen) { return absl::StrCat("listen(", listen, "): "); }

}  // namespace

bool IsGroup(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    return IN6_IS_ADDR_MULTICAST(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  }
  return address.ss_family == AF_INET &&
         IN_MULTICAST(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
}

absl::Status CheckListenAddress(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  uint32_t port = 0;
  if (colon != std::string::npos && colon > 0 &&
      absl::SimpleAtoi(listen.substr(colon + 1), &port) && port <= UINT16_MAX) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(About(listen), "expected HOST:PORT with a port from 0 to 65535"));
}

bool IsLoopback(const std::string& listen) {
  const absl::StatusOr<Addresses> addresses = Resolve(listen);
  if (!addresses.ok()) return false;
  for (const addrinfo* each = addresses->get(); each != nullptr; each = each->ai_next) {
    if (!IsLoopbackAddress(*each->ai_addr)) return false;
  }
  return true;
}

absl::StatusOr<Fd> Listen(const std::string& listen) {
  TD_RETURN_IF_ERROR(CheckListenAddress(listen));
  absl::StatusOr<Fd> socket = ListenAt(listen);
  if (!socket.ok()) return dataplane::Prefixed(About(listen), socket.status());
  return socket;
}

absl::StatusOr<Fd> ListenForDatagrams(const std::string& listen) {
  TD_RETURN_IF_ERROR(CheckListenAddress(listen));
  absl::StatusOr<Fd> socket = ReceiveAt(listen);
  if (!socket.ok()) return dataplane::Prefixed(About(listen), socket.status());
  return socket;
}

absl::StatusOr<std::vector<Fd>> ListenAtAll(const std::string& listen) {
  TD_RETURN_IF_ERROR(CheckListenAddress(listen));
  absl::StatusOr<std::vector<Fd>> sockets = TryListenAtAll(listen);
  if (!sockets.ok()) return dataplane::Prefixed(About(listen), sockets.status());
  return sockets;
}

int PortOf(const Fd& socket) {
  Address address;
  if (getsockname(socket.get(), address.get(), &address.bytes) != 0) return 0;
  return ntohs(address.port());
}

std::string PeerOf(const Fd& socket) {
  Address address;
  std::array<char, NI_MAXHOST> host{};
  if (getpeername(socket.get(), address.get(), &address.bytes) != 0 ||
      getnameinfo(address.get(), address.bytes, host.data(), host.size(), nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "unknown";
  }
  absl::string_view name = host.data();
  const bool v4 = address.storage.ss_family == AF_INET || absl::ConsumePrefix(&name, "::ffff:");
  const uint16_t port = ntohs(address.port());
  return v4 ? absl::StrCat(name, ":", port) : absl::StrCat("[", name, "]:", port);
}

}  // namespace tapedeck::services
