// Rails between processes of one machine, with a peer that says of its memory what it likes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <variant>

#include "dataplane/memory/host/memory.h"
#include "tests/conformance/transport_pair.h"

namespace tapedeck::dataplane {
namespace {

using testing::HasSubstr;

constexpr size_t kRead = 64 << 10;

TransportKind IpcKind() {
  const std::vector<TransportKind> kinds = TransportKinds();
  return *std::ranges::find(kinds, kIpcTransport, &TransportKind::kind);
}

class IpcHostileTest : public testing::Test {
 protected:
  // The victim's end of a connection whose peer tells of `claim`, with the wire that it has.
  struct Claimed {
    std::unique_ptr<TransportEnd> peer;
    std::unique_ptr<ConnectionEnd> victim;
    absl::Status status;

    ~Claimed() {
      victim.reset();
      peer.reset();
    }
  };
  std::unique_ptr<Claimed> Claim(IpcEndpoint claim) {
    auto made = std::make_unique<Claimed>();
    made->peer = std::make_unique<TransportEnd>(kind_, /*listen=*/false, RemoteAccess::kNone);
    made->victim = std::make_unique<ConnectionEnd>(victim_, 0);
    claim.wire = std::get<IpcEndpoint>(made->peer->offer->endpoint()).wire;
    auto peer_up = made->peer->Connect(made->victim->offer->endpoint(), kSecondNs);
    made->status = made->victim->Connect(claim, kSecondNs).get();
    peer_up.wait();
    return made;
  }

  static IpcEndpoint EndpointOf(const RailEnd& rail, size_t poller = 0) {
    const ConnectionEnd end(rail, poller);
    return std::get<IpcEndpoint>(end.offer->endpoint());
  }

  const TransportKind kind_ = IpcKind();
  RailEnd victim_{kind_, /*listen=*/true, RemoteAccess::kRead, 1};
};

// Another session's window of the victim, whose name this peer was once told.
TEST_F(IpcHostileTest, AWindowThatIsGoneIsNotTouched) {
  auto other = std::make_unique<RailEnd>(kind_, true, RemoteAccess::kRead, 1);
  const RemoteSlice slice = other->slice(0);
  const auto claimed = Claim(EndpointOf(*other));
  ASSERT_TRUE(claimed->status.ok()) << claimed->status;
  claimed->victim->Do([&](Connection& c) { c.Read(victim_.bytes(0, kRead), slice, 1); });
  EXPECT_EQ(claimed->victim->events.Completed(0), 1u);
  other->domain.reset();
  other->memory.reset();  // unmapped
  claimed->victim->Do([&](Connection& c) { c.Read(victim_.bytes(0, kRead), slice, 2); });
  EXPECT_THAT(std::string(claimed->victim->events.Closed().message()),
              HasSubstr("has freed its memory"));
}

TEST_F(IpcHostileTest, NobodyGetsMoreOfAWindowThanItsOwnerGave) {
  const RailEnd other(kind_, true, RemoteAccess::kRead, 1);
  IpcEndpoint claim = EndpointOf(other);
  claim.access = RemoteAccess::kWrite;
  EXPECT_THAT(std::string(Claim(claim)->status.message()), HasSubstr("may not open in this way"));
  claim = EndpointOf(other);
  claim.window.bytes += 1;
  EXPECT_TRUE(absl::IsPermissionDenied(Claim(claim)->status));
  EXPECT_THAT(std::string(Claim(EndpointOf(victim_))->status.message()),
              HasSubstr("may not open in this way"))
      << "its own";
}

size_t EntriesOf(const char* folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

size_t PeerMappings() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("memfd:tapedeck-") != std::string::npos;
  return count;
}

TEST_F(IpcHostileTest, WhoComesAndGoesWithoutEndLeavesNothing) {
  const auto shared = host::CreateShared(1 << 20);
  ASSERT_TRUE(shared.ok()) << shared.status();
  IpcEndpoint claim = EndpointOf(victim_);
  claim.name.fill(0x5a);  // of no window of this process
  claim.share = *(*shared)->window().share;
  claim.window.bytes = claim.share.bytes;
  const auto count = [&] {
    victim_.loops[0]->RunAndWait([] {});
    return std::array{EntriesOf("/proc/self/fd"), EntriesOf("/proc/self/task"), PeerMappings()};
  };
  ASSERT_TRUE(Claim(claim)->status.ok());
  std::optional<decltype(count())> before;
  for (int i = 0; i < 200; ++i) {
    IpcEndpoint said = claim;
    if (i % 3 == 1) said.share.name[0] ^= 1;
    if (i % 3 == 2) said.window.bytes += 4096;
    EXPECT_EQ(Claim(said)->status.ok(), i % 3 == 0) << i;
    if (i == 20) before = count();
  }
  // What is let go is let go by the opener's thread.
  for (int i = 0; i < 100 && count() != *before; ++i) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(count(), *before);
  EXPECT_LE(PeerMappings(), 1u) << "the owner's";
}

}  // namespace
}  // namespace tapedeck::dataplane
