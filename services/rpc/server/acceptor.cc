#include "services/rpc/server/acceptor.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/thread.h"
#include "dataplane/log.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "services/rpc/limits.h"

namespace tapedeck::services::server {
namespace {

using dataplane::Fd;
using dataplane::Log;
using dataplane::LogLevel;

constexpr char kComponent[] = "services/server";

// Until descriptors are looked for again.
constexpr int kRetryMs = 100;

// Others in the queue may be better off.
bool IsOneConnections(int error) {
  return error == EINTR || error == ECONNABORTED || error == EPROTO || error == EPERM ||
         error == ENETDOWN || error == ENOPROTOOPT || error == EHOSTDOWN || error == ENONET ||
         error == EHOSTUNREACH || error == EOPNOTSUPP || error == ENETUNREACH;
}

// As gRPC sets up its own.
void Prepare(const Fd& socket) {
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const int patience = kKeepaliveTimeoutMs;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof(patience));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Create(ReservedPort port, Take take,
                                                           const AcceptorLimits& limits) {
  TD_ASSIGN_OR_RETURN(std::vector<Fd> sockets, port.Listen());
  Fd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (stop.get() < 0) {
    return absl::UnavailableError(absl::StrCat("eventfd: ", std::strerror(errno)));
  }
  std::unique_ptr<Acceptor> acceptor(
      new Acceptor(std::move(sockets), std::move(stop), std::move(take), limits));
  TD_ASSIGN_OR_RETURN(acceptor->thread_,
                      dataplane::StartThread("accept", [raw = acceptor.get()] { raw->Run(); }));
  return acceptor;
}

Acceptor::Acceptor(std::vector<Fd> sockets, Fd stop, Take take, const AcceptorLimits& limits)
    : listening_(std::move(sockets)),
      stop_(std::move(stop)),
      take_(std::move(take)),
      limits_(limits),
      port_(dataplane::LocalAddress(listening_.front()).port()) {}

void Acceptor::Stop() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_.get(), 1);
  thread_.join();
  // Whoever has the descriptors goes on with them, but nobody connects any more.
  for (const Fd& socket : listening_) shutdown(socket.get(), SHUT_RDWR);
}

void Acceptor::Run() {
  dataplane::LowerPriority();
  while (!Wait(-1, true)) {
    const bool room = std::ranges::all_of(listening_, [this](const Fd& s) { return AcceptAll(s); });
    if (!room && Wait(kRetryMs, false)) return;
  }
}

bool Acceptor::Wait(int timeout_ms, bool for_connections) const {
  std::vector<pollfd> polled = {{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  for (const Fd& socket : listening_) {
    if (for_connections) polled.push_back({.fd = socket.get(), .events = POLLIN, .revents = 0});
  }
  poll(polled.data(), polled.size(), timeout_ms);
  return polled.front().revents != 0;
}

bool Acceptor::AcceptAll(const Fd& socket) {
  while (true) {
    Fd fd(accept4(socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.get() < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (fd.get() < 0 && IsOneConnections(errno)) continue;
    if (fd.get() < 0) {
      Log(LogLevel::kError, kComponent, "cannot accept connections any more",
          {{"accept4", std::strerror(errno)}});
      return false;
    }
    const std::string peer = dataplane::PeerAddress(fd).text();
    const int most = MostDescriptors();
    if (fd.get() >= most) {
      ++turned_away_;
      Log(LogLevel::kWarning, kComponent, "turned away: there are too many connections",
          {{"peer", peer}, {"most_descriptors", absl::StrCat(most)}});
      continue;
    }
    Prepare(fd);
    if (!take_(std::move(fd), peer)) ++turned_away_;
  }
}

int Acceptor::MostDescriptors() const {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return limits_.most_descriptors;
  const rlim_t most = limits_.most_descriptors;
  if (files.rlim_cur / 100 >= most) return limits_.most_descriptors;  // or there is no limit
  return static_cast<int>(std::min(most, files.rlim_cur * (100 - limits_.kept_free_percent) / 100));
}

}  // namespace tapedeck::services::server
