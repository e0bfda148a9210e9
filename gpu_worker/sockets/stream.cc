#include "gpu_worker/sockets/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <utility>

namespace tapedeck::gpu_worker::sockets {
namespace {

using dataplane::Fd;

sockaddr_in ToSockaddr(uint32_t address, uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(address);
  out.sin_port = htons(port);
  return out;
}

Fd NewStream() { return Fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

void SwitchOn(const Fd& socket, int level, int option) {
  const int on = 1;
  setsockopt(socket.get(), level, option, &on, sizeof(on));
}

using AskForName = int (*)(int, sockaddr*, socklen_t*);

Place PlaceOf(const Fd& socket, AskForName ask) {
  sockaddr_in name{};
  socklen_t length = sizeof(name);
  if (ask(socket.get(), reinterpret_cast<sockaddr*>(&name), &length) != 0) return {};
  return {ntohl(name.sin_addr.s_addr), ntohs(name.sin_port)};
}

// As sendmsg(2) and recvmsg(2), of which each is `call` with flags.
template <typename Call>
int64_t MovePieces(const TwoPieces& pieces, Call call) {
  std::array<iovec, 2> parts = {
      {{pieces.first, pieces.first_bytes}, {pieces.second, pieces.second_bytes}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = pieces.second_bytes > 0 ? 2 : 1;
  ssize_t moved;
  do {
    moved = call(&message);
  } while (moved < 0 && errno == EINTR);
  return moved >= 0 ? moved : -errno;
}

}  // namespace

Opened ListenOn(uint32_t address, uint16_t port) {
  Fd socket = NewStream();
  if (socket.get() < 0) return {Fd(), errno};
  SwitchOn(socket, SOL_SOCKET, SO_REUSEADDR);
  const sockaddr_in name = ToSockaddr(address, port);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0) {
    return {Fd(), errno};
  }
  return {std::move(socket)};
}

Opened StartConnect(uint32_t address, uint16_t port) {
  Fd socket = NewStream();
  if (socket.get() < 0) return {Fd(), errno};
  SwitchOn(socket, IPPROTO_TCP, TCP_NODELAY);
  const sockaddr_in name = ToSockaddr(address, port);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0 &&
      errno != EINPROGRESS) {
    return {Fd(), errno};
  }
  return {std::move(socket)};
}

int ConnectError(const Fd& socket) {
  int error = 0;
  socklen_t length = sizeof(error);
  if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

Opened AcceptFrom(const Fd& listener) {
  Fd socket(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.get() < 0) return {Fd(), errno};
  SwitchOn(socket, IPPROTO_TCP, TCP_NODELAY);
  return {std::move(socket)};
}

Place LocalPlace(const Fd& socket) { return PlaceOf(socket, &getsockname); }

Place PeerPlace(const Fd& socket) { return PlaceOf(socket, &getpeername); }

int64_t Send(const Fd& socket, const TwoPieces& pieces) {
  return MovePieces(pieces, [&](const msghdr* message) {
    return sendmsg(socket.get(), message, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

int64_t Receive(const Fd& socket, const TwoPieces& pieces) {
  return MovePieces(pieces,
                    [&](msghdr* message) { return recvmsg(socket.get(), message, MSG_DONTWAIT); });
}

int EndSending(const Fd& socket) { return shutdown(socket.get(), SHUT_WR) == 0 ? 0 : errno; }

void Reset(const Fd& socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  // connect(2): this dissolves the association. A socket that is still connecting is left to close.
  sockaddr nobody{};
  nobody.sa_family = AF_UNSPEC;
  static_cast<void>(connect(socket.get(), &nobody, sizeof(nobody)));
}

}  // namespace tapedeck::gpu_worker::sockets
