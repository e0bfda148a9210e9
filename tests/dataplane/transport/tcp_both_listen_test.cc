// Two rails that listen both never meet, and say so at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "dataplane/memory/host/memory.h"
#include "dataplane/transport/list.h"

namespace tapedeck::dataplane::tcp {
namespace {

class Unheard final : public ConnectionEvents {
 public:
  void OnFrame(const Frame&, std::span<std::byte>) override {}
  void OnCompleted(uint64_t) override {}
  void OnClosed(const absl::Status&) override {}
};

TEST(TcpBothListen, IsSaidAtOnce) {
  const auto loop = *EventLoop::Create("rail");
  const auto memory = *host::Create(1 << 20);
  const RailSpec spec{.name = "r0", .kind = "tcp", .address = "127.0.0.1", .listen = true};
  const auto own = *CreateTransport(spec, {loop.get()});
  const auto other = *CreateTransport(spec, {loop.get()});
  const auto domain = *own->OpenDomain(memory->window(), RemoteAccess::kNone);
  const auto others = *other->OpenDomain(memory->window(), RemoteAccess::kNone);
  Unheard events;
  std::unique_ptr<Offer> offer, peer;
  std::promise<absl::Status> connected;
  const int64_t begin_ns = loop->clock().NowNs();
  loop->RunAndWait([&] {
    offer = *domain->NewOffer(0);
    peer = *others->NewOffer(0);
    offer->Connect(peer->endpoint(), begin_ns + 8 * kSecondNs, &events,
                   [&](const auto& result) { connected.set_value(result.status()); });
  });
  const absl::Status status = connected.get_future().get();
  EXPECT_LT(loop->clock().NowNs() - begin_ns, 4 * kSecondNs);
  loop->RunAndWait([&] { offer.reset(), peer.reset(); });
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("both ends listen"));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("--inlets"));
}

}  // namespace
}  // namespace tapedeck::dataplane::tcp
