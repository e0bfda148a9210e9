// What a peer sends on a TCP rail, as it comes or with magic numbers and check values that fit. The
// connection is a real one, with a window that the peer may write, receives and a read.
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

#include "absl/synchronization/notification.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/little_endian.h"
#include "dataplane/transport/tcp/connection.h"
#include "tests/fuzz/input.h"

namespace tapedeck::dataplane::tcp {
namespace {

constexpr size_t kBufferBytes = 4096;
constexpr uint64_t kReadWork = 1;

// Looks at every byte that it is given.
class Peer final : public ConnectionEvents {
 public:
  void OnFrame(const Frame& frame, std::span<std::byte> payload) override {
    seen_ ^= frame.block.crc32c ^ Crc32c(payload);
  }
  void OnCompleted(uint64_t work) override { seen_ ^= static_cast<uint32_t>(work); }
  void OnClosed(const absl::Status&) override { closed_.Notify(); }
  void AwaitClosed() { closed_.WaitForNotification(); }

 private:
  uint32_t seen_ = 0;
  absl::Notification closed_;
};

EventLoop& Loop() {
  static EventLoop* const loop = EventLoop::Create("fuzz")->release();
  return *loop;
}

// Operations that the decoders take, whatever their values.
std::vector<std::byte> Mended(fuzz::Input& input) {
  std::vector<std::byte> wire;
  while (input.left() > 0) {
    auto preamble = input.Padded(kPreambleBytes);
    PutLittleEndian(&preamble[0], kOpMagic);
    PutLittleEndian(&preamble[4], GetLittleEndian<uint32_t>(&preamble[4]) % 4 + 1);
    const auto frame = std::span(preamble).subspan(kOpHeaderBytes);
    PutLittleEndian(&frame[0], kFrameMagic);
    PutLittleEndian(&frame[2], kFrameVersion);
    PutLittleEndian(&frame[60], Crc32c(frame.first(60)));
    wire.insert(wire.end(), preamble.begin(), preamble.end());
    const size_t payload = GetLittleEndian<uint32_t>(&preamble[8]) % (2 * kBufferBytes);
    const bool has_payload = GetLittleEndian<uint32_t>(&preamble[4]) != 3;  // not a request
    if (has_payload) wire.resize(wire.size() + payload);
  }
  return wire;
}

void Send(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;  // it was closed
    bytes = bytes.subspan(static_cast<size_t>(sent));
  }
  shutdown(socket, SHUT_WR);
}

void Try(RemoteAccess access, std::span<const std::byte> bytes) {
  int ends[2];
  fuzz::Require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  Fd ours(ends[0]), theirs(ends[1]);
  fuzz::Require(fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0);
  // Each in memory of its own, so that a byte behind it is found.
  std::vector<std::byte> window(kBufferBytes), first(kBufferBytes), second(100), read(300);
  const ExposedWindow exposed{.bytes = window,
                              .access = access,
                              .name = {.address = 0x1000, .bytes = window.size(), .key = 7}};
  Peer peer;
  std::unique_ptr<TcpConnection> connection;
  Loop().RunAndWait([&] {
    connection = *TcpConnection::Create(Loop(), std::move(ours), exposed, "rail", &peer);
    connection->PostReceive(first);
    connection->PostReceive(second);
    connection->Read(read, {.address = 0, .key = 1}, kReadWork);
  });
  Send(theirs.get(), bytes);
  peer.AwaitClosed();
  Loop().RunAndWait([&] { connection = nullptr; });
}

}  // namespace
}  // namespace tapedeck::dataplane::tcp

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tapedeck::dataplane;  // NOLINT: the names under test
  tapedeck::fuzz::Input input(data, size);
  const auto how = input.Number<uint8_t>();
  const auto access = how % 2 == 0 ? RemoteAccess::kWrite : RemoteAccess::kRead;
  if (how / 2 % 2 == 0) {
    tcp::Try(access, tcp::Mended(input));
  } else {
    tcp::Try(access, input.Take(input.left()));
  }
  return 0;
}
