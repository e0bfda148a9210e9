#include "services/base/addresses/listen_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services {

using dataplane::Fd;
using dataplane::SocketAddress;

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

// `both_kinds`: of IPv6, and whoever calls by IPv4 too.
absl::StatusOr<Fd> TryBind(const SocketAddress& address, bool both_kinds = false) {
  Fd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return Failed(errno);
  const int on = 1, off = 0;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (both_kinds) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (bind(fd.get(), address.get(), address.bytes) != 0) return Failed(errno);
  return fd;
}

absl::Status StartListening(const Fd& socket) {
  return listen(socket.get(), SOMAXCONN) == 0 ? absl::OkStatus() : Failed(errno);
}

struct Forget {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};
using Addresses = std::unique_ptr<addrinfo, Forget>;

// The error's text is what the system says, without the address.
absl::StatusOr<Addresses> Resolve(const std::string& listen) {
  const dataplane::HostPort split = dataplane::SplitHostPort(listen);
  const addrinfo hints{.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error = getaddrinfo(std::string(split.bare()).c_str(), std::string(split.port).c_str(),
                                &hints, &found);
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
  SocketAddress address(*addresses);
  Fd fd(socket(address.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() >= 0 && IsGroup(address.storage)) ShareGroup(fd, address.storage.ss_family);
  if (fd.get() < 0 || bind(fd.get(), address.get(), address.bytes) != 0) return Failed(errno);
  return fd;
}

absl::StatusOr<Fd> ListenAt(const std::string& listen) {
  TD_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(listen));
  TD_ASSIGN_OR_RETURN(Fd socket, TryBind(SocketAddress(*addresses)));
  TD_RETURN_IF_ERROR(StartListening(socket));
  return socket;
}

// The address that takes callers of both kinds, where `address` is either one's for all.
std::optional<SocketAddress> AnyOfBothKinds(const SocketAddress& address) {
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.storage);
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
  const bool any = address.storage.ss_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr)
                                                         : v4.sin_addr.s_addr == INADDR_ANY;
  if (!any) return std::nullopt;
  SocketAddress both;
  both.storage.ss_family = AF_INET6;
  both.bytes = sizeof(sockaddr_in6);
  both.set_port(address.port());
  return both;
}

absl::StatusOr<std::vector<Fd>> BindAll(const std::string& listen) {
  TD_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(listen));
  std::vector<Fd> sockets;
  if (const auto both = AnyOfBothKinds(SocketAddress(*addresses)); both.has_value()) {
    if (auto socket = TryBind(*both, true); socket.ok()) {
      sockets.push_back(*std::move(socket));
      return sockets;
    }
  }
  absl::Status first;  // that was in the way
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    SocketAddress address(*each);
    if (!sockets.empty()) address.set_port(LocalAddress(sockets.front()).port());
    absl::StatusOr<Fd> socket = TryBind(address);
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
  const auto [host, port] = dataplane::SplitHostPort(listen);
  if (!host.empty() && dataplane::ParsePort(port).has_value()) return absl::OkStatus();
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

absl::StatusOr<ReservedPort> ReservedPort::Create(const std::string& listen) {
  TD_RETURN_IF_ERROR(CheckListenAddress(listen));
  absl::StatusOr<std::vector<Fd>> sockets = BindAll(listen);
  if (!sockets.ok()) return dataplane::Prefixed(About(listen), sockets.status());
  return ReservedPort(listen, *std::move(sockets));
}

absl::StatusOr<std::vector<Fd>> ReservedPort::Listen() {
  for (const Fd& socket : sockets_) {
    const absl::Status status = StartListening(socket);
    if (!status.ok()) return dataplane::Prefixed(About(listen_), status);
  }
  return std::move(sockets_);
}

}  // namespace tapedeck::services
