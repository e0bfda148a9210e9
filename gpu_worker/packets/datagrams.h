// Packets as datagrams to one address, many with one call of the kernel. Of the udp sink and of
// tapedeck-emulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "dataplane/fd.h"
#include "dataplane/socket_address.h"
#include "services/signal/packet_parts.h"

namespace tapedeck::gpu_worker::packets {

// One thread.
class Datagrams {
 public:
  using Packet = services::PacketParts;

  // UNAVAILABLE says what is in the way.
  static absl::StatusOr<Datagrams> Connect(const dataplane::SocketAddress& address);

  // In order; they may be lost, or nobody be there. Where the kernel has no room for more it waits,
  // at most for `patience` without any progress: DEADLINE_EXCEEDED.
  absl::Status Send(std::span<const Packet> packets, absl::Duration patience);

  // Times that the receiving machine has said that nobody is there.
  uint64_t refused() const { return refused_; }

 private:
  explicit Datagrams(dataplane::Fd socket) : socket_(std::move(socket)) {}

  absl::Status SendSome(std::span<const Packet> packets, absl::Duration patience);
  absl::Status AwaitRoom(absl::Duration patience) const;

  dataplane::Fd socket_;
  uint64_t refused_ = 0;
  bool together_ = true;  // the kernel takes several packets as one message
};

// No packet is larger, with its header: a datagram over IPv4 holds no more, and less than the
// smallest block is, so that a packet lies in two blocks at most.
inline constexpr size_t kMaxPacketBytes = 65'507;

}  // namespace tapedeck::gpu_worker::packets
