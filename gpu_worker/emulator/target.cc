#include "gpu_worker/emulator/target.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::emulator {

using dataplane::Fd;

namespace {

// Datagrams of one call of the kernel.
constexpr size_t kBatch = 64;

// A receiver that takes nothing for so long is not there.
constexpr timeval kPatience{.tv_sec = 10, .tv_usec = 0};

struct Forget {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};

absl::Status Failed(const std::string& what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", strerror(errno)));
}

absl::Status SendFailed(const char* call) {
  if (errno != EAGAIN) return Failed(call);
  return absl::DeadlineExceededError(
      absl::StrCat(call, ": the receiver took nothing for ", kPatience.tv_sec, " s"));
}

}  // namespace

absl::StatusOr<Target> Target::Connect(Transport transport, const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return absl::InvalidArgumentError(absl::StrCat(address, ": expected HOST:PORT"));
  }
  absl::string_view host = absl::string_view(address).substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  const addrinfo hints{.ai_socktype = transport == Transport::kUdp ? SOCK_DGRAM : SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(std::string(host).c_str(), address.c_str() + colon + 1, &hints, &found);
  const std::unique_ptr<addrinfo, Forget> forget(found);
  if (error != 0) return absl::UnavailableError(absl::StrCat(address, ": ", gai_strerror(error)));
  Fd socket(::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return Failed("socket");
  if (connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0) {
    return Failed(absl::StrCat("connect(", address, ")"));
  }
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  return Target(transport, std::move(socket));
}

absl::Status Target::Send(std::span<const std::span<const std::byte>> packets) {
  if (transport_ == Transport::kUdp) {
    while (!packets.empty()) {
      const size_t some = std::min(packets.size(), kBatch);
      TD_RETURN_IF_ERROR(SendDatagrams(packets.first(some)));
      packets = packets.subspan(some);
    }
    return absl::OkStatus();
  }
  for (const auto packet : packets) TD_RETURN_IF_ERROR(SendBytes(packet));
  return absl::OkStatus();
}

absl::Status Target::SendDatagrams(std::span<const std::span<const std::byte>> packets) {
  std::array<iovec, kBatch> pieces{};
  std::array<mmsghdr, kBatch> messages{};
  for (size_t i = 0; i < packets.size(); ++i) {
    pieces[i] = {.iov_base = const_cast<std::byte*>(packets[i].data()),
                 .iov_len = packets[i].size()};
    messages[i].msg_hdr = {.msg_iov = &pieces[i], .msg_iovlen = 1};
  }
  size_t sent = 0;
  while (sent < packets.size()) {
    const int more = sendmmsg(socket_.get(), messages.data() + sent,
                              static_cast<unsigned>(packets.size() - sent), MSG_NOSIGNAL);
    if (more >= 0) {
      sent += static_cast<size_t>(more);
    } else if (errno == ECONNREFUSED) {
      ++refused_;  // word of an earlier one; this one was not sent
    } else if (errno != EINTR) {
      return SendFailed("sendmmsg");
    }
  }
  return absl::OkStatus();
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
