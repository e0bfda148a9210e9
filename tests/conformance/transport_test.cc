// What every transport must do. A transport joins by being in the list; nothing here changes for
// it. TCP is tried a second time, as the kernel encrypts it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/bytes.h"
#include "tests/conformance/transport_pair.h"

namespace tapedeck::dataplane {
namespace {

constexpr size_t kPayload = 1 << 20;

Frame NumberedFrame(uint64_t sequence, uint32_t payload_bytes = 0) {
  return {.type = FrameType::kBlock,
          .block = {.sequence = sequence, .payload_bytes = payload_bytes}};
}

std::vector<TransportKind> Kinds() {
  std::vector<TransportKind> kinds = TransportKinds();
  kinds.push_back(KernelTlsKind());
  return kinds;
}

// Of a kind, with so many pollers at each end.
class TransportConformance : public testing::TestWithParam<std::tuple<std::string, size_t>> {
 protected:
  void SetUp() override {
    const auto kind = std::ranges::find(kinds_, std::get<0>(GetParam()), &TransportKind::kind);
    ASSERT_NE(kind, kinds_.end());
    if (const absl::Status usable = kind->usable(); !usable.ok()) {
      GTEST_SKIP() << kind->kind << ": " << usable.message();
    }
    kind_ = &*kind;
  }

  std::unique_ptr<TransportEnd> NewEnd(bool listen, RemoteAccess access) const {
    return std::make_unique<TransportEnd>(*kind_, listen, access, std::get<1>(GetParam()));
  }

  // `access` is what each end lets the other do.
  void Connect(RemoteAccess access) {
    node_ = NewEnd(true, access);
    worker_ = NewEnd(false, access);
    auto node_up = node_->Connect(worker_->offer->endpoint());
    auto worker_up = worker_->Connect(node_->offer->endpoint());
    ASSERT_TRUE(worker_up.get().ok());
    ASSERT_TRUE(node_up.get().ok());
  }

  void TearDown() override {
    for (TransportEnd* end : {node_.get(), worker_.get()}) {
      if (end == nullptr) continue;
      EXPECT_FALSE(end->events.nested()) << "an event came inside a call";
      EXPECT_LE(end->events.closed_count(), 1u);
    }
  }

  const std::vector<TransportKind> kinds_ = Kinds();
  const TransportKind* kind_ = nullptr;
  std::unique_ptr<TransportEnd> node_;
  std::unique_ptr<TransportEnd> worker_;
};

TEST_P(TransportConformance, FramesArriveWholeAndInOrderBothWays) {
  Connect(RemoteAccess::kNone);
  Frame whole{.type = FrameType::kResend,
              .slot = 7,
              .number = 9,
              .block = {1, 2, 3, -4, 0, 6, kBlockPartial}};
  worker_->Do([&](Connection& c) {
    c.Send(whole, {}, 0);
    for (uint64_t i = 0; i < 1000; ++i) c.Send(NumberedFrame(i), {}, 0);
  });
  node_->Do([&](Connection& c) { c.Send(whole, {}, 0); });
  const Frame got = node_->events.Frame(0).frame;
  EXPECT_EQ(got.type, whole.type);
  EXPECT_EQ(got.slot, whole.slot);
  EXPECT_EQ(got.number, whole.number);
  EXPECT_EQ(got.block, whole.block);
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(node_->events.Frame(i + 1).frame.block.sequence, i);
  }
  EXPECT_EQ(worker_->events.Frame(0).frame.slot, 7u);
  EXPECT_EQ(worker_->events.completed_count(), 0u);
}

TEST_P(TransportConformance, SendFillsPostedBuffersInOrder) {
  Connect(RemoteAccess::kNone);
  FillRandom(1, worker_->bytes(0, 2 * kPayload));
  node_->Do([&](Connection& c) {
    c.PostReceive(node_->bytes(0, kPayload));
    c.PostReceive(node_->bytes(kPayload, kPayload));
  });
  worker_->Do([&](Connection& c) {
    c.Send(NumberedFrame(0, kPayload), worker_->bytes(0, kPayload), 100);
    c.Send(NumberedFrame(1), {}, 101);  // takes no buffer
    c.Send(NumberedFrame(2, 4096), worker_->bytes(kPayload, 4096), 102);
  });
  const auto first = node_->events.Frame(0);
  EXPECT_EQ(first.payload.data(), node_->bytes(0, 1).data());
  EXPECT_TRUE(SameBytes(first.payload, worker_->bytes(0, kPayload)));
  EXPECT_TRUE(node_->events.Frame(1).payload.empty());
  const auto last = node_->events.Frame(2);
  EXPECT_EQ(last.payload.data(), node_->bytes(kPayload, 1).data());
  EXPECT_TRUE(SameBytes(last.payload, worker_->bytes(kPayload, 4096)));
  EXPECT_EQ(worker_->events.Completed(0), 100u);
  EXPECT_EQ(worker_->events.Completed(1), 102u);
}

TEST_P(TransportConformance, WritePlacesPayloadBeforeItsFrame) {
  Connect(RemoteAccess::kWrite);
  FillRandom(2, worker_->bytes(0, kPayload));
  worker_->Do([&](Connection& c) {
    c.Write(NumberedFrame(5, kPayload), worker_->bytes(0, kPayload), node_->slice(3 * kPayload), 7);
  });
  const auto arrival = node_->events.Frame(0);
  EXPECT_EQ(arrival.frame.block.sequence, 5u);
  EXPECT_TRUE(arrival.payload.empty());
  EXPECT_TRUE(SameBytes(node_->bytes(3 * kPayload, kPayload), worker_->bytes(0, kPayload)));
  EXPECT_EQ(worker_->events.Completed(0), 7u);
}

TEST_P(TransportConformance, ReadFetchesWithoutTellingThePeer) {
  Connect(RemoteAccess::kRead);
  FillRandom(3, node_->bytes(kPayload, kPayload));
  worker_->Do(
      [&](Connection& c) { c.Read(worker_->bytes(0, kPayload), node_->slice(kPayload), 11); });
  EXPECT_EQ(worker_->events.Completed(0), 11u);
  EXPECT_TRUE(SameBytes(worker_->bytes(0, kPayload), node_->bytes(kPayload, kPayload)));
  EXPECT_EQ(node_->events.frame_count(), 0u);
}

// The small read at the end comes out of a backlog that the reader could not take in one go, and
// after it nothing arrives that would wake the reader again.
TEST_P(TransportConformance, ABacklogOfReadsIsServedToItsLastByte) {
  Connect(RemoteAccess::kRead);
  constexpr size_t kLarge = 8;
  // What the kernel encrypts takes seconds where it is emulated.
  const size_t rounds = kind_->kind == "ktls" ? 8 : 100;
  for (size_t round = 0; round < rounds; ++round) {
    worker_->Do([&](Connection& c) {
      for (size_t i = 0; i < kLarge; ++i) {
        c.Read(worker_->bytes(i % 3 * kPayload, kPayload), node_->slice(i % 3 * kPayload), i);
      }
      c.Read(worker_->bytes(3 * kPayload, 4096), node_->slice(3 * kPayload), kLarge);
    });
    worker_->Do([](Connection&) { absl::SleepFor(absl::Milliseconds(3)); });
    ASSERT_EQ(worker_->events.Completed(round * (kLarge + 1) + kLarge), kLarge);
  }
}

TEST_P(TransportConformance, ManyOperationsOfAllKinds) {
  Connect(RemoteAccess::kWrite);
  constexpr size_t kSize = 64 << 10;
  FillRandom(4, worker_->bytes(0, 32 * kSize));
  for (size_t round = 0; round < 20; ++round) {
    worker_->Do([&](Connection& c) {
      for (size_t i = 0; i < 32; ++i) {
        c.Write(NumberedFrame(round * 32 + i, kSize), worker_->bytes(i * kSize, kSize),
                node_->slice((31 - i) * kSize), i);
        c.Send(NumberedFrame(0), {}, 0);
      }
    });
  }
  EXPECT_EQ(node_->events.Frame(20 * 64 - 2).frame.block.sequence, 20u * 32 - 1);
  worker_->events.Completed(20 * 32 - 1);
  for (size_t i = 0; i < 32; ++i) {
    ASSERT_TRUE(SameBytes(node_->bytes((31 - i) * kSize, kSize), worker_->bytes(i * kSize, kSize)));
  }
}

// What the peer may not do ends the connection and touches nothing.
TEST_P(TransportConformance, RefusesAccessThatWasNotGiven) {
  struct Case {
    const char* name;
    RemoteAccess access;
    std::function<void(Connection&, TransportEnd& self, TransportEnd& peer)> attempt;
  };
  const auto write = [](Connection& c, TransportEnd& self, RemoteSlice to) {
    c.Write(NumberedFrame(0, 4096), self.bytes(0, 4096), to, 1);
  };
  const auto read = [](Connection& c, TransportEnd& self, RemoteSlice from) {
    c.Read(self.bytes(0, 4096), from, 1);
  };
  const std::vector<Case> cases = {
      {"write where reads are allowed", RemoteAccess::kRead,
       [&](Connection& c, TransportEnd& s, TransportEnd& p) { write(c, s, p.slice(0)); }},
      {"read where writes are allowed", RemoteAccess::kWrite,
       [&](Connection& c, TransportEnd& s, TransportEnd& p) { read(c, s, p.slice(0)); }},
      {"write where nothing is allowed", RemoteAccess::kNone,
       [&](Connection& c, TransportEnd& s, TransportEnd& p) { write(c, s, p.slice(0)); }},
      {"wrong key", RemoteAccess::kWrite,
       [&](Connection& c, TransportEnd& s, TransportEnd& p) {
         RemoteSlice slice = p.slice(0);
         slice.key += 1;
         write(c, s, slice);
       }},
      {"past the end", RemoteAccess::kRead,
       [&](Connection& c, TransportEnd& s, TransportEnd& p) {
         read(c, s, p.slice(TransportEnd::kWindowBytes - 4095));
       }},
      {"before the start", RemoteAccess::kWrite,
       [&](Connection& c, TransportEnd& s, TransportEnd& p) {
         RemoteSlice slice = p.slice(0);
         slice.address -= 4096;
         write(c, s, slice);
       }},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    Connect(test.access);
    FillRandom(5, worker_->bytes(0, 4096));
    worker_->Do([&](Connection& c) { test.attempt(c, *worker_, *node_); });
    EXPECT_FALSE(worker_->events.Closed().ok());
    EXPECT_EQ(node_->events.frame_count(), 0u);
    const std::span<std::byte> window = node_->memory->window().bytes;
    EXPECT_TRUE(std::ranges::all_of(window, [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST_P(TransportConformance, SendWithoutPostedBufferEndsTheConnection) {
  Connect(RemoteAccess::kNone);
  worker_->Do([&](Connection& c) { c.Send(NumberedFrame(0, 4096), worker_->bytes(0, 4096), 1); });
  EXPECT_FALSE(node_->events.Closed().ok());
  EXPECT_FALSE(worker_->events.Closed().ok());
  EXPECT_EQ(node_->events.frame_count(), 0u);
}

TEST_P(TransportConformance, CloseTellsBothEndsOnce) {
  Connect(RemoteAccess::kNone);
  worker_->Do([&](Connection& c) { c.Close(absl::AbortedError("enough")); });
  EXPECT_EQ(worker_->events.Closed().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(node_->events.Closed().code(), absl::StatusCode::kUnavailable);
  worker_->Do([&](Connection& c) {
    c.Close(absl::InternalError("again"));
    c.Send(NumberedFrame(0), {}, 0);
  });
  worker_->loop->RunAndWait([] {});
  EXPECT_EQ(worker_->events.closed_count(), 1u);
  EXPECT_EQ(node_->events.frame_count(), 0u);
}

TEST_P(TransportConformance, DestructionClosesThePeer) {
  Connect(RemoteAccess::kNone);
  worker_->loop->RunAndWait([&] { worker_->connection.reset(); });
  EXPECT_EQ(node_->events.Closed().code(), absl::StatusCode::kUnavailable);
  worker_->loop->RunAndWait([] {});
  EXPECT_EQ(worker_->events.closed_count(), 0u);
}

TEST_P(TransportConformance, ConnectEndsAtItsDeadlineWhenNobodyComes) {
  node_ = NewEnd(true, RemoteAccess::kNone);
  worker_ = NewEnd(false, RemoteAccess::kNone);
  auto up = node_->Connect(worker_->offer->endpoint(), 100 * kMillisecondNs);
  EXPECT_EQ(up.get().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_P(TransportConformance, ConnectRefusesAForeignEndpoint) {
  worker_ = NewEnd(false, RemoteAccess::kNone);
  const Endpoint foreign = std::holds_alternative<TcpEndpoint>(worker_->offer->endpoint())
                               ? Endpoint(InprocEndpoint{1})
                               : Endpoint(TcpEndpoint{.address = "127.0.0.1", .port = 9});
  EXPECT_EQ(worker_->Connect(foreign).get().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(TransportConformance, WindowsOfTwoDomainsAreApart) {
  Connect(RemoteAccess::kWrite);
  TransportEnd stranger(*kind_, true, RemoteAccess::kWrite);
  worker_->Do([&](Connection& c) {
    c.Write(NumberedFrame(0, 4096), worker_->bytes(0, 4096), stranger.slice(0), 1);
  });
  EXPECT_FALSE(worker_->events.Closed().ok());
  EXPECT_EQ(stranger.events.frame_count(), 0u);
}

// Where the kind has several pollers they are on two of them.
TEST_P(TransportConformance, TheEndOfAConnectionLeavesTheOthersOfItsRail) {
  Connect(RemoteAccess::kWrite);
  ConnectionEnd other_node(*node_, 0);
  ConnectionEnd other_worker(*worker_, 0);
  auto node_up = other_node.Connect(other_worker.offer->endpoint());
  auto worker_up = other_worker.Connect(other_node.offer->endpoint());
  ASSERT_TRUE(worker_up.get().ok());
  ASSERT_TRUE(node_up.get().ok());
  other_worker.Do([](Connection& c) { c.Send(NumberedFrame(1), {}, 0); });
  EXPECT_EQ(other_node.events.Frame(0).frame.block.sequence, 1u);
  FillRandom(6, worker_->bytes(0, kPayload));
  worker_->Do([&](Connection& c) {
    c.Write(NumberedFrame(2, kPayload), worker_->bytes(0, kPayload), node_->slice(0), 1);
  });
  other_worker.Do([](Connection& c) { c.Close(absl::AbortedError("enough")); });
  EXPECT_FALSE(other_node.events.Closed().ok());
  worker_->Do([&](Connection& c) {
    c.Write(NumberedFrame(3, kPayload), worker_->bytes(0, kPayload), node_->slice(kPayload), 2);
  });
  EXPECT_EQ(node_->events.Frame(1).frame.block.sequence, 3u);
  EXPECT_TRUE(SameBytes(node_->bytes(kPayload, kPayload), worker_->bytes(0, kPayload)));
  EXPECT_EQ(node_->events.closed_count() + worker_->events.closed_count(), 0u);
}

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (const TransportKind& kind : Kinds()) names.push_back(kind.kind);
  return names;
}

// "tcp", "tcp_3" with three pollers.
std::string NameOf(const testing::TestParamInfo<std::tuple<std::string, size_t>>& info) {
  const auto& [kind, pollers] = info.param;
  return pollers == 1 ? kind : kind + "_" + std::to_string(pollers);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TransportConformance,
                         testing::Combine(testing::ValuesIn(KindNames()),
                                          testing::Values(size_t{1}, size_t{3})),
                         NameOf);

}  // namespace
}  // namespace tapedeck::dataplane
