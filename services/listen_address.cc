#include "services/listen_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

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

absl::StatusOr<Fd> TryListen(const addrinfo& info) {
  Fd fd(socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return Failed(errno);
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(fd.get(), info.ai_addr, info.ai_addrlen) != 0 || listen(fd.get(), SOMAXCONN) != 0) {
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

absl::StatusOr<Fd> ListenAt(const std::string& listen) {
  TD_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(listen));
  return TryListen(*addresses);
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

int PortOf(const Fd& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  const bool v6 = address.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                  : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string WhyNotListening(const std::string& listen) {
  const absl::StatusOr<Fd> socket = ListenAt(listen);
  if (!socket.ok()) return std::string(socket.status().message());
  return "gRPC refused the address, although the system allows it";
}

}  // namespace tapedeck::services
