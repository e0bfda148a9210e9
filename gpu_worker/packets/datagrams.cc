#include "gpu_worker/packets/datagrams.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::packets {

using dataplane::Fd;

namespace {

// Datagrams of one call. Fewer cost more calls.
constexpr size_t kBatch = 64;

absl::Status Failed(const char* call) {
  return absl::UnavailableError(absl::StrCat(call, ": ", strerror(errno)));
}

std::byte* Writable(std::span<const std::byte> bytes) {
  return const_cast<std::byte*>(bytes.data());  // iovec serves for reading, too
}

}  // namespace

std::optional<Address> AddressOf(const std::string& text) {
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(text.substr(colon + 1), &port) || port == 0 ||
      port > UINT16_MAX) {
    return std::nullopt;
  }
  absl::string_view host = absl::string_view(text).substr(0, colon);
  const bool v6 = absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  Address address;
  if (v6) {
    auto& to = reinterpret_cast<sockaddr_in6&>(address.storage);
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(static_cast<uint16_t>(port));
    address.bytes = sizeof(to);
    if (inet_pton(AF_INET6, std::string(host).c_str(), &to.sin6_addr) == 1) return address;
  } else {
    auto& to = reinterpret_cast<sockaddr_in&>(address.storage);
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    address.bytes = sizeof(to);
    if (inet_pton(AF_INET, std::string(host).c_str(), &to.sin_addr) == 1) return address;
  }
  return std::nullopt;
}

std::string TextOf(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (address.storage.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
    inet_ntop(AF_INET6, &v6.sin6_addr, host.data(), host.size());
    return absl::StrCat("[", host.data(), "]:", ntohs(v6.sin6_port));
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.storage);
  inet_ntop(AF_INET, &v4.sin_addr, host.data(), host.size());
  return absl::StrCat(host.data(), ":", ntohs(v4.sin_port));
}

absl::StatusOr<Datagrams> Datagrams::Connect(const Address& address) {
  const int family = address.storage.ss_family;
  Fd socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return Failed("socket");
  const auto* to = reinterpret_cast<const sockaddr*>(&address.storage);
  if (connect(socket.get(), to, address.bytes) != 0) return Failed("connect");
  return Datagrams(std::move(socket));
}

absl::Status Datagrams::Send(std::span<const Packet> packets, absl::Duration patience) {
  while (!packets.empty()) {
    const size_t some = std::min(packets.size(), kBatch);
    TD_RETURN_IF_ERROR(SendSome(packets.first(some), patience));
    packets = packets.subspan(some);
  }
  return absl::OkStatus();
}

absl::Status Datagrams::SendSome(std::span<const Packet> packets, absl::Duration patience) {
  std::array<std::array<iovec, 2>, kBatch> pieces{};
  std::array<mmsghdr, kBatch> messages{};
  for (size_t i = 0; i < packets.size(); ++i) {
    const auto& [header, samples] = packets[i];
    pieces[i] = {iovec{.iov_base = Writable(header), .iov_len = header.size()},
                 iovec{.iov_base = Writable(samples), .iov_len = samples.size()}};
    messages[i].msg_hdr = {.msg_iov = pieces[i].data(), .msg_iovlen = pieces[i].size()};
  }
  size_t sent = 0;
  while (sent < packets.size()) {
    const int more = sendmmsg(socket_.get(), messages.data() + sent,
                              static_cast<unsigned>(packets.size() - sent), MSG_NOSIGNAL);
    if (more >= 0) {
      sent += static_cast<size_t>(more);
    } else if (errno == ECONNREFUSED) {
      ++refused_;  // word of an earlier one; this one was not sent
    } else if (errno == EAGAIN) {
      TD_RETURN_IF_ERROR(AwaitRoom(patience));
    } else if (errno != EINTR) {
      return Failed("sendmmsg");
    }
  }
  return absl::OkStatus();
}

absl::Status Datagrams::AwaitRoom(absl::Duration patience) const {
  const absl::Time deadline = absl::Now() + patience;
  while (true) {
    pollfd room{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
    const auto left_ms = absl::ToInt64Milliseconds(deadline - absl::Now());
    const int ready = poll(&room, 1, static_cast<int>(std::max<int64_t>(left_ms, 0)));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return Failed("poll");
    if (ready == 0) {
      return absl::DeadlineExceededError(
          absl::StrCat("sendmmsg: the network took nothing for ", absl::FormatDuration(patience)));
    }
  }
}

}  // namespace tapedeck::gpu_worker::packets
