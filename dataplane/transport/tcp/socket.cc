#include "dataplane/transport/tcp/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::tcp {
namespace {

absl::Status ErrnoStatus(absl::string_view call, int error) {
  return absl::UnavailableError(absl::StrCat(call, ": ", std::strerror(error)));
}

absl::StatusOr<SocketAddress> ParseAddress(const std::string& text, uint16_t port) {
  const std::optional<SocketAddress> address = ParseIp(text, port);
  if (address.has_value()) return *address;
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not an IP address"));
}

// BBR, the default of many hosts, spaces packets by what it believes of a path from what it has
// seen, and a rail that waited for its source looks like a slow path. A rail's network is its own,
// with round trips of microseconds: any control that sends as soon as it may is better there. Not
// everybody may choose cubic (tcp_allowed_congestion_control), and everybody reno.
void SendAtOnce(const Fd& socket) {
  char name[16] = "";  // TCP_CA_NAME_MAX
  socklen_t length = sizeof(name) - 1;
  getsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name, &length);
  if (!absl::StartsWith(name, "bbr")) return;
  for (const absl::string_view other : {"cubic", "reno"}) {
    if (setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, other.data(),
                   static_cast<socklen_t>(other.size())) == 0) {
      return;
    }
  }
}

// What is accepted from it is set up as it is.
absl::StatusOr<Fd> NewSocket(const SocketAddress& address) {
  const int fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return ErrnoStatus("socket", errno);
  Fd socket(fd);
  SendAtOnce(socket);
  return socket;
}

void SetOption(const Fd& socket, int level, int option) {
  const int on = 1;
  setsockopt(socket.get(), level, option, &on, sizeof(on));
}

absl::StatusOr<Fd> Bind(const std::string& address, uint16_t port) {
  TD_ASSIGN_OR_RETURN(const SocketAddress local, ParseAddress(address, port));
  TD_ASSIGN_OR_RETURN(Fd socket, NewSocket(local));
  SetOption(socket, SOL_SOCKET, SO_REUSEADDR);
  if (bind(socket.get(), local.get(), local.bytes) != 0) {
    return ErrnoStatus(absl::StrCat("bind to ", address, ":", port), errno);
  }
  return socket;
}

}  // namespace

absl::Status TryBind(const std::string& address) { return Bind(address, 0).status(); }

absl::StatusOr<Fd> Listen(const std::string& address, uint16_t port) {
  TD_ASSIGN_OR_RETURN(Fd socket, Bind(address, port));
  if (listen(socket.get(), SOMAXCONN) != 0) return ErrnoStatus("listen", errno);
  return socket;
}

absl::StatusOr<Fd> StartConnect(const std::string& local, const std::string& remote,
                                uint16_t port) {
  TD_ASSIGN_OR_RETURN(const SocketAddress from, ParseAddress(local, 0));
  TD_ASSIGN_OR_RETURN(const SocketAddress to, ParseAddress(remote, port));
  TD_ASSIGN_OR_RETURN(Fd socket, NewSocket(to));
  // The connection shall leave by this rail's port. The local port is chosen at connect, per
  // destination.
  SetOption(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
  if (bind(socket.get(), from.get(), from.bytes) != 0) {
    return ErrnoStatus(absl::StrCat("bind to ", local), errno);
  }
  SetOption(socket, IPPROTO_TCP, TCP_NODELAY);
  if (connect(socket.get(), to.get(), to.bytes) != 0 && errno != EINPROGRESS) {
    return ErrnoStatus(absl::StrCat("connect from ", local, " to ", remote, ":", port), errno);
  }
  return socket;
}

absl::Status ConnectResult(const Fd& socket) {
  int error = 0;
  socklen_t length = sizeof(error);
  getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error == 0 ? absl::OkStatus() : ErrnoStatus("connect", error);
}

absl::StatusOr<Fd> Accept(const Fd& listener) {
  const int fd = accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
    return absl::ResourceExhaustedError(absl::StrCat("accept4: ", std::strerror(errno)));
  }
  if (fd < 0) return ErrnoStatus("accept4", errno);
  Fd socket(fd);
  SetOption(socket, IPPROTO_TCP, TCP_NODELAY);
  return socket;
}

}  // namespace tapedeck::dataplane::tcp
