// What a hostile peer can do to a verbs rail: end its own connection, and nothing else. Needs an
// RDMA port; the lab has one.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "dataplane/reason.h"
#include "dataplane/transport/verbs/transport.h"
#include "tests/conformance/transport_pair.h"
#include "tests/dataplane/transport/verbs/raw_peer.h"

namespace tapedeck::dataplane::verbs {
namespace {

const TransportKind kLoopback{"verbs", LoopbackAddress(), Usable, Create};

class VerbsHostile : public testing::Test {
 protected:
  void SetUp() override {
    if (const absl::Status usable = Usable(); !usable.ok()) GTEST_SKIP() << usable.message();
  }

  // A victim whose peer is `raw`, up.
  std::unique_ptr<TransportEnd> Victim(RawPeer& raw, RemoteAccess access) {
    auto victim = std::make_unique<TransportEnd>(kLoopback, true, access);
    auto up = victim->Connect(raw.endpoint());
    EXPECT_TRUE(raw.SayHello(std::get<QueuePairEndpoint>(victim->offer->endpoint())));
    EXPECT_TRUE(up.get().ok());
    return victim;
  }

  static bool Untouched(const TransportEnd& end) {
    return std::ranges::all_of(end.memory->window().bytes,
                               [](std::byte b) { return b == std::byte{0}; });
  }
};

TEST_F(VerbsHostile, NonsenseEndsOnlyItsConnection) {
  const std::string address = LoopbackAddress();
  const std::vector<std::byte> garbage(kFrameMessageBytes, std::byte{0x5a});
  const Frame frame{.type = FrameType::kBlock};
  const std::vector<std::pair<const char*, std::function<void(RawPeer&)>>> cases = {
      {"nothing", [&](RawPeer& raw) { raw.SayBytes({}); }},
      {"garbage", [&](RawPeer& raw) { raw.SayBytes(garbage); }},
      {"longer than a receive",
       [&](RawPeer& raw) { raw.SayBytes(std::vector<std::byte>(4000, std::byte{1})); }},
      {"hello again", [&](RawPeer& raw) { raw.Say({.kind = MessageKind::kHello}); }},
      {"credits never given",
       [&](RawPeer& raw) { raw.Say({.kind = MessageKind::kCredits, .credits = 7}); }},
      {"credits taken back",
       [&](RawPeer& raw) { raw.Say({.kind = MessageKind::kCredits, .credits = 0xffffffff}); }},
      {"a payload never posted for",
       [&](RawPeer& raw) {
         raw.Say({.kind = MessageKind::kPayloadFrame, .payload_bytes = 4096, .frame = frame});
       }},
  };
  for (const auto& [name, attempt] : cases) {
    SCOPED_TRACE(name);
    RawPeer raw(address);
    const auto victim = Victim(raw, RemoteAccess::kNone);
    attempt(raw);
    EXPECT_FALSE(victim->events.Closed().ok());
    EXPECT_EQ(victim->events.frame_count(), 0u);
    EXPECT_TRUE(Untouched(*victim));
  }
}

// Nothing orders what a port says of an end's sends and of its receives: an honest peer's first
// frame may come before the word that the hello to it has arrived.
TEST_F(VerbsHostile, AFrameRightBehindTheHelloIsHeard) {
  for (const bool listens : {true, false}) {
    SCOPED_TRACE(listens ? "the victim listens" : "the victim connects");
    RawPeer raw(LoopbackAddress());
    TransportEnd victim(kLoopback, listens, RemoteAccess::kNone);
    auto up = victim.Connect(raw.endpoint());
    const Message frame{.kind = MessageKind::kFrame,
                        .frame = {.type = FrameType::kPing, .slot = 5}};
    raw.SayHelloAnd(std::get<QueuePairEndpoint>(victim.offer->endpoint()), {&frame, 1});
    ASSERT_TRUE(up.get().ok());
    EXPECT_EQ(victim.events.Frame(0).frame.slot, 5u);
    victim.Do([](Connection& c) { c.Send({.type = FrameType::kPing}, {}, 1); });
    victim.Do([](Connection& c) { c.Close(absl::CancelledError("enough")); });
    EXPECT_EQ(victim.events.Closed().code(), absl::StatusCode::kCancelled);
  }
}

TEST_F(VerbsHostile, PayloadOfAnotherSizeThanItsFrameNames) {
  RawPeer raw(LoopbackAddress());
  const auto victim = Victim(raw, RemoteAccess::kNone);
  victim->Do([&](Connection& c) { c.PostReceive(victim->bytes(0, 8192)); });
  raw.SendPayload(4096);
  raw.Say({.kind = MessageKind::kPayloadFrame, .payload_bytes = 8192});
  EXPECT_EQ(victim->events.Closed().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(victim->events.frame_count(), 0u);
}

// Frames that nobody lets go of never cost more than the receives that were posted for them.
TEST_F(VerbsHostile, FramesBehindAPayloadThatNeverComesAreBounded) {
  RawPeer raw(LoopbackAddress());
  const auto victim = Victim(raw, RemoteAccess::kNone);
  victim->Do([&](Connection& c) { c.PostReceive(victim->bytes(0, 8192)); });
  raw.Say({.kind = MessageKind::kPayloadFrame, .payload_bytes = 8192});
  for (uint32_t i = 0; i < kControlSends - 10; ++i) raw.Say({.kind = MessageKind::kFrame});
  victim->loop->RunAndWait([] {});
  EXPECT_EQ(victim->events.frame_count(), 0u);
  victim->Do([](Connection& c) { c.Close(absl::CancelledError("enough")); });
  EXPECT_EQ(victim->events.Closed().code(), absl::StatusCode::kCancelled);
}

TEST_F(VerbsHostile, RandomMessages) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 30; ++round) {
    RawPeer raw(LoopbackAddress());
    const auto victim = Victim(raw, RemoteAccess::kNone);
    std::vector<std::byte> bytes(random() % 2 == 0 ? kFrameMessageBytes : random() % kSlotBytes);
    if (bytes.size() >= kFrameMessageBytes) EncodeMessage({.kind = MessageKind::kFrame}, bytes);
    for (size_t i = 0; i < bytes.size(); i += 1 + random() % 8) {
      bytes[i] = static_cast<std::byte>(random());
    }
    raw.SayBytes(bytes);
    EXPECT_FALSE(victim->events.Closed().ok());
  }
}

TEST_F(VerbsHostile, KeysOfEndedAndForeignSessionsAreRefused) {
  const std::string address = LoopbackAddress();
  RemoteWindow ended;
  {
    const TransportEnd session(kLoopback, true, RemoteAccess::kWrite);
    ended = session.domain->remote_window();
  }
  const TransportEnd foreign(kLoopback, true, RemoteAccess::kWrite);
  const TransportEnd reads(kLoopback, true, RemoteAccess::kRead);
  for (const RemoteWindow& window :
       {ended, foreign.domain->remote_window(), reads.domain->remote_window()}) {
    RawPeer raw(address);
    const auto victim = Victim(raw, RemoteAccess::kWrite);
    EXPECT_NE(raw.Write(window.address, window.key), IBV_WC_SUCCESS);
    EXPECT_FALSE(victim->events.Closed().ok());
    EXPECT_TRUE(Untouched(*victim));
  }
  EXPECT_TRUE(Untouched(foreign));
  EXPECT_TRUE(Untouched(reads));
}

// The right key with the address that the memory has in its process, and keys near the right one.
TEST_F(VerbsHostile, GuessedAddressesAndKeysAreRefused) {
  const std::string address = LoopbackAddress();
  for (int guess = 0; guess < 10; ++guess) {
    RawPeer raw(address);
    const auto victim = Victim(raw, RemoteAccess::kWrite);
    const RemoteWindow window = victim->domain->remote_window();
    const auto own = reinterpret_cast<uint64_t>(victim->memory->window().bytes.data());
    EXPECT_NE(window.address, own);
    EXPECT_NE(guess == 0 ? raw.Write(own, window.key)
                         : raw.Write(window.address, window.key + static_cast<uint32_t>(guess)),
              IBV_WC_SUCCESS);
    EXPECT_TRUE(Untouched(*victim));
  }
}

// Once its domain is gone, nothing of a session can be reached by the peer that it had.
TEST_F(VerbsHostile, NothingIsReachableAfterTheSession) {
  RawPeer raw(LoopbackAddress());
  auto victim = Victim(raw, RemoteAccess::kWrite);
  const RemoteWindow window = victim->domain->remote_window();
  EXPECT_EQ(raw.Write(window.address, window.key), IBV_WC_SUCCESS);
  victim->Do([](Connection& c) { c.Close(absl::CancelledError("the session ended")); });
  EXPECT_FALSE(victim->events.Closed().ok());
  victim->domain.reset();
  EXPECT_NE(raw.Write(window.address + 4096, window.key), IBV_WC_SUCCESS);
}

// A stranger who knows a queue pair's number but not its sequence number is not heard, and the
// connection goes on.
TEST_F(VerbsHostile, AStrangerCannotSpeakIntoAConnection) {
  TransportEnd node(kLoopback, true, RemoteAccess::kWrite);
  TransportEnd worker(kLoopback, false, RemoteAccess::kWrite);
  auto node_up = node.Connect(worker.offer->endpoint());
  auto worker_up = worker.Connect(node.offer->endpoint());
  ASSERT_TRUE(worker_up.get().ok());
  ASSERT_TRUE(node_up.get().ok());
  RawPeer stranger(LoopbackAddress());
  auto guessed = std::get<QueuePairEndpoint>(node.offer->endpoint());
  guessed.psn = (guessed.psn + 12345) & 0xffffff;
  EXPECT_FALSE(stranger.SayHello(guessed));
  worker.Do([](Connection& c) { c.Send({.type = FrameType::kPing, .slot = 5}, {}, 0); });
  EXPECT_EQ(node.events.Frame(0).frame.slot, 5u);
}

}  // namespace
}  // namespace tapedeck::dataplane::verbs
