#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/fd.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/ingest/packet_source.h"
#include "services/base/addresses/listen_address.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages::ingest::udp {

using dataplane::Fd;
using dataplane::Flow;

namespace {

// Datagrams of one call. Fewer cost more calls; each has room for the largest.
constexpr size_t kBatch = 64;
// One more than the largest packet: of a datagram that fills it nothing is believed.
constexpr size_t kRoomBytes = kMaxPacketBytes + 1;

class UdpPacketSource final : public PacketSource {
 public:
  explicit UdpPacketSource(Fd socket) : socket_(std::move(socket)), room_(kBatch * kRoomBytes) {
    for (size_t i = 0; i < kBatch; ++i) {
      pieces_[i] = {.iov_base = &room_[i * kRoomBytes], .iov_len = kRoomBytes};
    }
  }

  int fd() const override { return socket_.get(); }

  absl::StatusOr<Flow> Read(const TakePacket& take) override {
    for (size_t i = 0; i < kBatch; ++i) {
      messages_[i].msg_hdr = {.msg_iov = &pieces_[i],
                              .msg_iovlen = 1,
                              .msg_control = controls_[i].data(),
                              .msg_controllen = controls_[i].size()};
    }
    const int count = recvmmsg(fd(), messages_.data(), kBatch, MSG_DONTWAIT, nullptr);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Flow::kNotNow;
    if (count < 0) return absl::UnavailableError(absl::StrCat("recvmmsg: ", strerror(errno)));
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      LookForDrops(messages_[i].msg_hdr);
      take(std::span(&room_[i * kRoomBytes], messages_[i].msg_len));
    }
    return Flow::kMoved;
  }

  uint64_t dropped() const override { return dropped_; }

 private:
  // With each datagram comes how many were dropped since the socket was opened, modulo 2^32.
  void LookForDrops(msghdr& message) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
         part = CMSG_NXTHDR(&message, part)) {
      if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SO_RXQ_OVFL) continue;
      uint32_t told = 0;
      std::memcpy(&told, CMSG_DATA(part), sizeof(told));
      dropped_ += told - static_cast<uint32_t>(dropped_);
    }
  }

  const Fd socket_;
  std::vector<std::byte> room_;
  std::array<iovec, kBatch> pieces_{};
  std::array<mmsghdr, kBatch> messages_{};
  struct alignas(cmsghdr) Control : std::array<char, CMSG_SPACE(sizeof(uint32_t))> {};
  std::array<Control, kBatch> controls_{};
  uint64_t dropped_ = 0;
};

// What the kernel then says it has is twice that, for what it needs itself.
uint64_t SetBuffer(const Fd& socket, uint64_t bytes) {
  const int wanted = static_cast<int>(bytes);
  if (setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted)) != 0) {
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
  }
  int given = 0;
  socklen_t size = sizeof(given);
  getsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &given, &size);
  return static_cast<uint64_t>(given) / 2;
}

// Groups of multicast, which a receiver has to join: RFC 3376 (IGMPv3), RFC 3810 (MLDv2), and the
// calls of RFC 3678, which are the same for IPv4 and IPv6.

absl::Status NotJoined(int error, const PacketSourceSettings& settings) {
  std::string remedy;
  if (error == ENODEV) remedy = "; no route leads to the group: name an interface";
  if (error == ENOBUFS) remedy = "; raise net.ipv4.igmp_max_memberships or igmp_max_msf";
  const std::string where =
      settings.interface.empty() ? "" : absl::StrCat(" on ", settings.interface);
  return absl::UnavailableError(
      absl::StrCat("ingest: cannot join the group", where, ": ", strerror(error), remedy));
}

// Joins the group that the socket of ListenForDatagrams is bound to, where it is one.
// INVALID_ARGUMENT (ARGUMENT_INVALID): an interface or a sender where there is no group, or one
// that does not exist; UNAVAILABLE says why the kernel does not join, and what to do.
absl::Status Join(const Fd& socket, const PacketSourceSettings& settings) {
  const sockaddr_storage group = dataplane::LocalAddress(socket).storage;
  if (!services::IsGroup(group)) {
    if (settings.interface.empty() && settings.from.empty()) return absl::OkStatus();
    const char* const given = settings.interface.empty() ? "from" : "interface";
    return services::ArgumentInvalid(
        given, absl::StrCat("ingest: ", given, " requires a multicast address in udp"));
  }
  group_source_req request{.gsr_group = group};
  if (!settings.interface.empty()) {
    request.gsr_interface = if_nametoindex(settings.interface.c_str());
    if (request.gsr_interface == 0) {
      return services::ArgumentInvalid(
          "interface", absl::StrCat("ingest: no interface is called ", settings.interface,
                                    "; ip -brief address lists them"));
    }
  }
  const int level = group.ss_family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
  int failed = 0;
  if (settings.from.empty()) {
    const group_req any{.gr_interface = request.gsr_interface, .gr_group = group};
    failed = setsockopt(socket.get(), level, MCAST_JOIN_GROUP, &any, sizeof(any));
  } else {
    const auto from = dataplane::ParseIp(settings.from);
    if (!from.has_value() || from->storage.ss_family != group.ss_family) {
      return services::ArgumentInvalid(
          "from", absl::StrCat("ingest: ", settings.from,
                               " must be an address of the group's family, IPv4 or IPv6"));
    }
    request.gsr_source = from->storage;
    failed = setsockopt(socket.get(), level, MCAST_JOIN_SOURCE_GROUP, &request, sizeof(request));
  }
  return failed == 0 ? absl::OkStatus() : NotJoined(errno, settings);
}

}  // namespace

absl::StatusOr<OpenedPacketSource> Open(const PacketSourceSettings& settings) {
  TD_ASSIGN_OR_RETURN(Fd socket, services::ListenForDatagrams(settings.address));
  const int on = 1;
  if (setsockopt(socket.get(), SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on)) != 0) {
    return absl::UnavailableError(absl::StrCat("setsockopt SO_RXQ_OVFL: ", strerror(errno)));
  }
  TD_RETURN_IF_ERROR(Join(socket, settings));
  OpenedPacketSource opened{.port = dataplane::LocalAddress(socket).port(),
                            .buffer_bytes = SetBuffer(socket, settings.buffer_bytes)};
  opened.packet_source = std::make_unique<UdpPacketSource>(std::move(socket));
  return opened;
}

}  // namespace tapedeck::gpu_worker::stages::ingest::udp
