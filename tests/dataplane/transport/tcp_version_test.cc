// What a rail says of a listener that speaks another version.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>

#include "dataplane/fd.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/reason.h"
#include "dataplane/transport/list.h"
#include "dataplane/transport/tcp/wire.h"

namespace tapedeck::dataplane::tcp {
namespace {

class Ignored final : public ConnectionEvents {
 public:
  void OnFrame(const Frame&, std::span<std::byte>) override {}
  void OnCompleted(uint64_t) override {}
  void OnClosed(const absl::Status&) override {}
};

// Listens on a port of the system's choice, which is put at `port`.
Fd Listen(uint16_t* port) {
  Fd fd(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{.sin_family = AF_INET};
  address.sin_addr.s_addr = inet_addr("127.0.0.1");
  socklen_t length = sizeof(address);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(listen(fd.get(), 1), 0);
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length);
  *port = ntohs(address.sin_port);
  return fd;
}

TEST(TcpVersion, AnotherOneIsNamedWithTheRail) {
  const auto loop = *EventLoop::Create("rail");
  const auto memory = *host::Create(1 << 20);
  const auto transport =
      *CreateTransport({.name = "r0", .kind = "tcp", .address = "127.0.0.1"}, {loop.get()});
  const auto domain = *transport->OpenDomain(memory->window(), RemoteAccess::kNone);
  TcpEndpoint peer{.address = "127.0.0.1"};
  const Fd listener = Listen(&peer.port);
  Ignored events;
  std::unique_ptr<Offer> offer;
  std::promise<absl::Status> connected;
  loop->RunAndWait([&] {
    offer = *domain->NewOffer(0);
    offer->Connect(peer, loop->clock().NowNs() + 8 * kSecondNs, &events,
                   [&](const auto& result) { connected.set_value(result.status()); });
  });
  const Fd caller(accept(listener.get(), nullptr, nullptr));
  HelloBytes bytes;
  ASSERT_EQ(recv(caller.get(), bytes.data(), bytes.size(), MSG_WAITALL), ssize_t{kHelloBytes});
  bytes = EncodeHello({.version = 9, .verdict = Verdict::kWrongVersion});
  ASSERT_EQ(send(caller.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t{kHelloBytes});
  const absl::Status status = connected.get_future().get();
  loop->RunAndWait([&] { offer.reset(); });
  EXPECT_NE(status.message().find("rail r0 (127.0.0.1) to 127.0.0.1:"), absl::string_view::npos);
  const auto reason = ReasonOf(status);
  ASSERT_TRUE(reason.has_value()) << status;
  EXPECT_EQ(reason->reason, "VERSION_MISMATCH");
  EXPECT_EQ(reason->metadata, (std::map<std::string, std::string>{{"ours", "1"}, {"theirs", "9"}}));
}

}  // namespace
}  // namespace tapedeck::dataplane::tcp
