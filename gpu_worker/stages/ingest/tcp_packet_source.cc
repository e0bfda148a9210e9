#include <sys/socket.h>

#include <algorithm>
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

namespace tapedeck::gpu_worker::stages::ingest::tcp {

using dataplane::Fd;
using dataplane::Flow;

namespace {

// What one Read takes at most; it holds several of the largest packets.
constexpr size_t kRoomBytes = 512 << 10;
static_assert(kRoomBytes > 2 * kMaxPacketBytes);

class TcpPacketSource final : public PacketSource {
 public:
  TcpPacketSource(Fd listening, const PacketReader& reader)
      : listening_(std::move(listening)), reader_(reader), room_(kRoomBytes) {}

  int fd() const override { return connected() ? socket_.get() : listening_.get(); }

  absl::StatusOr<Flow> Read(const TakePacket& take) override {
    if (!connected()) return Accept();
    const ssize_t got =
        recv(socket_.get(), room_.data() + held_, room_.size() - held_, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Flow::kNotNow;
    if (got < 0 && errno != ECONNRESET) {
      return absl::UnavailableError(absl::StrCat("recv: ", strerror(errno)));
    }
    if (got <= 0) return Flow::kEnd;
    held_ += static_cast<size_t>(got);
    TD_RETURN_IF_ERROR(GivePackets(take));
    return Flow::kMoved;
  }

 private:
  bool connected() const { return socket_.get() >= 0; }

  absl::StatusOr<Flow> Accept() {
    Fd socket(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) {
      const bool gone = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
      if (gone) return Flow::kNotNow;
      // It stays to be accepted: asking again would go round until the deadline.
      return absl::UnavailableError(absl::StrCat("accept: ", strerror(errno)));
    }
    peer_ = dataplane::PeerAddress(socket).text();
    socket_ = std::move(socket);
    listening_ = Fd();
    return Flow::kMoved;
  }

  // Gives the whole ones, and keeps the beginning of the next.
  absl::Status GivePackets(const TakePacket& take) {
    size_t at = 0;
    while (held_ - at >= reader_.prefix_bytes()) {
      const std::span<const std::byte> rest(room_.data() + at, held_ - at);
      const auto size = reader_.SizeOf(rest.first(reader_.prefix_bytes()));
      if (!size.has_value() || *size > kMaxPacketBytes) {
        return services::ProtocolViolation(
            {.message = "Packet", .peer = peer_},
            absl::StrCat("ingest: the data of ", peer_, " does not hold packets of this kind"));
      }
      if (*size > rest.size()) break;
      take(rest.first(*size));
      at += *size;
    }
    std::copy(room_.begin() + static_cast<ptrdiff_t>(at),
              room_.begin() + static_cast<ptrdiff_t>(held_), room_.begin());
    held_ -= at;
    return absl::OkStatus();
  }

  Fd listening_;  // none once there is a connection
  Fd socket_;
  std::string peer_;
  const PacketReader& reader_;
  std::vector<std::byte> room_;
  size_t held_ = 0;  // bytes in it
};

}  // namespace

absl::StatusOr<OpenedPacketSource> Open(const PacketSourceSettings& settings) {
  TD_ASSIGN_OR_RETURN(Fd listening, services::Listen(settings.address));
  // What is accepted has as much.
  const int wanted = static_cast<int>(settings.buffer_bytes);
  setsockopt(listening.get(), SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
  OpenedPacketSource opened{.port = dataplane::LocalAddress(listening).port(),
                            .buffer_bytes = settings.buffer_bytes};
  opened.packet_source = std::make_unique<TcpPacketSource>(std::move(listening), *settings.reader);
  return opened;
}

}  // namespace tapedeck::gpu_worker::stages::ingest::tcp
