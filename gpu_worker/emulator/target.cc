#include "gpu_worker/emulator/target.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::emulator {

using dataplane::Fd;
using packets::Datagrams;

namespace {

// A receiver that takes nothing for so long is not there.
constexpr absl::Duration kPatience = absl::Seconds(10);

struct Forget {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};

absl::Status Failed(const std::string& what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", strerror(errno)));
}

absl::Status SendFailed(const char* call) {
  if (errno != EAGAIN) return Failed(call);
  return absl::DeadlineExceededError(
      absl::StrCat(call, ": the receiver read nothing for ", absl::FormatDuration(kPatience)));
}

}  // namespace

absl::StatusOr<Target> Target::Connect(Transport transport, const std::string& address) {
  const dataplane::HostPort split = dataplane::SplitHostPort(address);
  if (split.host.empty() || split.port.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(address, ": expected HOST:PORT"));
  }
  const addrinfo hints{.ai_socktype = transport == Transport::kUdp ? SOCK_DGRAM : SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error = getaddrinfo(std::string(split.bare()).c_str(), std::string(split.port).c_str(),
                                &hints, &found);
  const std::unique_ptr<addrinfo, Forget> forget(found);
  if (error != 0) return absl::UnavailableError(absl::StrCat(address, ": ", gai_strerror(error)));
  if (transport == Transport::kUdp) {
    TD_ASSIGN_OR_RETURN(Datagrams datagrams, Datagrams::Connect(dataplane::SocketAddress(*found)));
    return Target(std::move(datagrams));
  }
  Fd socket(::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return Failed("socket");
  if (connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0) {
    return Failed(absl::StrCat("connect(", address, ")"));
  }
  const timeval patience = absl::ToTimeval(kPatience);
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  return Target(std::move(socket));
}

absl::Status Target::Send(std::span<const std::span<const std::byte>> packets) {
  if (!datagrams_.has_value()) {
    for (const auto packet : packets) TD_RETURN_IF_ERROR(SendBytes(packet));
    return absl::OkStatus();
  }
  std::vector<Datagrams::Packet> datagrams;
  for (const auto packet : packets) datagrams.push_back({.header = packet, .samples = {}});
  return datagrams_->Send(datagrams, kPatience);
}

absl::Status Target::SendBytes(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return SendFailed("send");
    bytes = bytes.subspan(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::gpu_worker::emulator
