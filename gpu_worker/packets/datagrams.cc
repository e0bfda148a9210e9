#include "gpu_worker/packets/datagrams.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dataplane/deadline.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::packets {

using dataplane::Fd;

namespace {

// Packets of one call. Fewer cost more calls.
constexpr size_t kBatch = 64;

// What the kernel refuses packets with that are handed over together, for a network that cannot
// part them or a path whose datagrams are smaller.
bool WantsThemApart(int error) {
  return error == EINVAL || error == EIO || error == EMSGSIZE || error == EOPNOTSUPP;
}

absl::Status Failed(const char* call) {
  return absl::UnavailableError(absl::StrCat(call, ": ", strerror(errno)));
}

std::byte* Writable(std::span<const std::byte> bytes) {
  return const_cast<std::byte*>(bytes.data());  // iovec serves for reading, too
}

size_t SizeOf(const Datagrams::Packet& packet) {
  return packet.header.size() + packet.samples.size() + packet.padding.size();
}

// How many of the first packets go as one message, which the kernel parts again: those of one size,
// the last of which may be smaller (UDP_SEGMENT, udp(7)).
size_t Together(std::span<const Datagrams::Packet> packets) {
  const size_t size = SizeOf(packets[0]);
  size_t total = size;
  size_t count = 1;
  while (count < packets.size() && SizeOf(packets[count - 1]) == size &&
         SizeOf(packets[count]) <= size && total + SizeOf(packets[count]) <= kMaxPacketBytes) {
    total += SizeOf(packets[count++]);
  }
  return count;
}

// What one call of the kernel sends: kBatch packets at most.
class Messages {
 public:
  Messages(std::span<const Datagrams::Packet> packets, bool together) {
    while (!packets.empty()) {
      const size_t count = together ? Together(packets) : 1;
      Add(packets.first(count));
      packets = packets.subspan(count);
    }
  }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  int Send(int socket) {
    return sendmmsg(socket, messages_.data(), static_cast<unsigned>(size_), MSG_NOSIGNAL);
  }
  size_t packets_in(size_t messages) const {
    return std::accumulate(counts_.begin(), counts_.begin() + static_cast<ptrdiff_t>(messages),
                           size_t{0});
  }

 private:
  struct Control {
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(uint16_t))> bytes;
  };

  void Add(std::span<const Datagrams::Packet> packets) {
    msghdr& message = messages_[size_].msg_hdr;
    message.msg_iov = &pieces_[next_piece_];
    const size_t first_piece = next_piece_;
    for (const auto& [header, samples, padding] : packets) {
      for (const auto piece : {header, samples, padding}) {
        if (piece.empty()) continue;
        pieces_[next_piece_++] = {.iov_base = Writable(piece), .iov_len = piece.size()};
      }
    }
    message.msg_iovlen = next_piece_ - first_piece;
    if (packets.size() > 1) Part(message, SizeOf(packets[0]));
    counts_[size_++] = packets.size();
  }

  void Part(msghdr& message, size_t packet_bytes) {
    Control& control = controls_[size_];
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    cmsghdr& part = *CMSG_FIRSTHDR(&message);
    part.cmsg_level = SOL_UDP;
    part.cmsg_type = UDP_SEGMENT;
    part.cmsg_len = CMSG_LEN(sizeof(uint16_t));
    const auto bytes = static_cast<uint16_t>(packet_bytes);
    std::memcpy(CMSG_DATA(&part), &bytes, sizeof(bytes));
  }

  std::array<iovec, 3 * kBatch> pieces_{};
  size_t next_piece_ = 0;
  std::array<mmsghdr, kBatch> messages_{};
  std::array<Control, kBatch> controls_{};
  std::array<size_t, kBatch> counts_{};  // of packets, by message
  size_t size_ = 0;
};

}  // namespace

absl::StatusOr<Datagrams> Datagrams::Connect(const dataplane::SocketAddress& address) {
  const int family = address.storage.ss_family;
  Fd socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return Failed("socket");
  if (connect(socket.get(), address.get(), address.bytes) != 0) return Failed("connect");
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
  while (!packets.empty()) {
    Messages messages(packets, together_);
    const int sent = messages.Send(socket_.get());
    if (sent >= 0) {
      packets = packets.subspan(messages.packets_in(static_cast<size_t>(sent)));
    } else if (errno == ECONNREFUSED) {
      ++refused_;  // word of an earlier one; this one was not sent
    } else if (errno == EAGAIN) {
      TD_RETURN_IF_ERROR(AwaitRoom(patience));
    } else if (together_ && WantsThemApart(errno)) {
      together_ = false;
    } else if (errno != EINTR) {
      return Failed("sendmmsg");
    }
  }
  return absl::OkStatus();
}

absl::Status Datagrams::AwaitRoom(absl::Duration patience) const {
  const auto deadline = dataplane::Deadline::In(patience);
  while (true) {
    pollfd room{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
    const auto left_ms = absl::ToInt64Milliseconds(deadline.left());
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
