#include "services/session/parts/joiner.h"

#include <gtest/gtest.h>

#include "services/base/errors.h"
#include "services/session/parts/reorder_window.h"
#include "tests/services/session/parts/joined_order.h"

namespace tapedeck::services::parts {
namespace {

constexpr uint64_t kJoinSamples = 10;
constexpr uint64_t kJoinWindow = 32;

// Of these blocks of the stream.
std::vector<uint64_t> Samples(const std::vector<uint64_t>& blocks) {
  std::vector<uint64_t> samples;
  for (const uint64_t block : blocks) samples.push_back(block * kJoinSamples);
  return samples;
}

std::vector<uint64_t> Range(uint64_t first, uint64_t end, uint64_t step) {
  std::vector<uint64_t> blocks;
  for (uint64_t i = first; i < end; i += step) blocks.push_back(i);
  return blocks;
}

JoinedOrder JoinBlocks(const std::vector<std::vector<uint64_t>>& parts, uint64_t first = 0) {
  std::vector<std::vector<uint64_t>> samples;
  samples.reserve(parts.size());
  for (const auto& part : parts) samples.push_back(Samples(part));
  return Join(samples, kJoinSamples, kJoinWindow, first);
}

TEST(JoinerTest, PartsAreTheStream) {
  const JoinedOrder order = JoinBlocks({Range(0, 300, 3), Range(1, 300, 3), Range(2, 300, 3)});
  EXPECT_TRUE(order.status.ok()) << order.status;
  EXPECT_EQ(order.blocks, 300u);
  EXPECT_EQ(order.missing.size(), 0u);
}

TEST(JoinerTest, AMissingPartIsAGapForEachOfItsBlocks) {
  const JoinedOrder order = JoinBlocks({Range(0, 300, 3), Range(2, 300, 3)});
  EXPECT_EQ(order.blocks, 300u);
  const auto gone = Range(1, 300, 3);
  EXPECT_EQ(order.missing, std::set<uint64_t>(gone.begin(), gone.end()));
}

TEST(JoinerTest, WhatComesLateFindsItsPlace) {
  // Block 5 was dealt again when others up to 5 + reorder window had been; the ring has 8 slots.
  std::vector<uint64_t> late = Range(0, 5, 1);
  for (uint64_t i = 6; i < 5 + kJoinWindow; ++i) late.push_back(i);
  late.push_back(5);
  for (uint64_t i = 5 + kJoinWindow; i < 100; ++i) late.push_back(i);
  const JoinedOrder alone = JoinBlocks({late});
  EXPECT_EQ(alone.blocks, 100u);
  EXPECT_EQ(alone.missing.size(), 0u);
  const JoinedOrder beside = JoinBlocks({late, Range(100, 120, 1)});
  EXPECT_EQ(beside.blocks, 120u);
  EXPECT_EQ(beside.missing.size(), 0u);
}

TEST(JoinerTest, APartHearsHowFarItIsWhoeverPushes) {
  // The second fills its ring with what waits for the first, which ends then.
  std::vector<uint64_t> last = Range(20, 28, 1);
  for (uint64_t i = 28; i < 100; i += 2) last.push_back(i);
  const JoinedOrder order = JoinBlocks({Range(0, 20, 1), last, Range(29, 100, 2)});
  EXPECT_EQ(order.blocks, 100u);
  EXPECT_EQ(order.missing.size(), 0u);
}

TEST(JoinerTest, WhatCameTwiceIsGivenOnce) {
  const JoinedOrder order = JoinBlocks({Range(0, 50, 1), Range(20, 60, 1)});
  EXPECT_EQ(order.blocks, 60u);
  EXPECT_EQ(order.missing.size(), 0u);
  EXPECT_EQ(order.counts.twice, 30u);
}

TEST(JoinerTest, EachPartMayHaveEveryBlock) {
  for (const size_t slots : {2u, 8u, 64u}) {
    for (const size_t copies : {2u, 3u}) {
      const std::vector<std::vector<uint64_t>> parts(copies, Samples(Range(0, 300, 1)));
      const JoinedOrder order = Join(parts, kJoinSamples, kJoinWindow, 0, slots);
      EXPECT_TRUE(order.status.ok()) << order.status;
      EXPECT_EQ(order.blocks, 300u);
      EXPECT_EQ(order.missing.size(), 0u);
      EXPECT_EQ(order.counts.twice, 300u * (copies - 1));
    }
  }
}

// Takes nothing until it is opened.
class ShutSink final : public dataplane::Sink {
 public:
  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override {
    offered = true;
    if (!open) return dataplane::Flow::kNotNow;
    block->Reset();
    ++blocks;
    return dataplane::Flow::kMoved;
  }
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status&) override {
    return dataplane::Flow::kEnd;
  }
  void SetWaker(dataplane::Waker set) override { waker = std::move(set); }
  dataplane::Watermarks watermarks() const override {
    return {.received = blocks, .written = blocks, .durable = blocks};
  }
  dataplane::Waker waker;
  bool offered = false;
  bool open = false;
  uint64_t blocks = 0;
};

TEST(JoinerTest, ACopyOfWhatTheSinkIsOfferedDoesNotStay) {
  sim::World world(1);
  dataplane::Executor& executor = world.NewExecutor("worker");
  auto owned = std::make_unique<ShutSink>();
  ShutSink& sink = *owned;
  bool done = false;
  Joiner joiner(executor,
                {.parts = 2,
                 .block_samples = kJoinSamples,
                 .block_bytes = 4096,
                 .reorder_window = kJoinWindow,
                 .ring_slots = 8,
                 .on_done = [&](const absl::Status&) { done = true; }},
                std::move(owned));
  const auto ring = sim::NewRing(8, 8);
  const auto push = [&](size_t part) {
    dataplane::Block block = *ring->Take();
    block.header() = {.payload_bytes = 8};
    EXPECT_TRUE(joiner.Push(part, &block).ok());
  };
  executor.Post([&] { push(0); });
  ASSERT_TRUE(world.RunUntil([&] { return sink.offered; }, dataplane::kSecondNs));
  executor.Post([&] {
    push(1);
    sink.open = true;
    sink.waker();
    joiner.Ended(0);
    joiner.Ended(1);
  });
  EXPECT_TRUE(world.RunUntil([&] { return done; }, dataplane::kSecondNs)) << "it never ended";
  EXPECT_EQ(sink.blocks, 1u);
  EXPECT_EQ(joiner.counts().twice, 1u);
}

// The blocks of the stream from 0 to `end`, of which those are damaged.
std::vector<uint64_t> DamagedIn(uint64_t end, const std::set<uint64_t>& damaged) {
  std::vector<uint64_t> samples = Samples(Range(0, end, 1));
  for (const uint64_t block : damaged) samples[block] |= kDamagedBit;
  return samples;
}

TEST(JoinerTest, WhatIsDamagedInOnePartIsTakenFromAnother) {
  std::set<uint64_t> one;
  std::set<uint64_t> other;
  for (uint64_t i = 0; i < 300; ++i) (i / 40 % 2 == 0 ? one : other).insert(i);
  for (const size_t slots : {2u, 8u, 64u}) {
    const JoinedOrder order =
        Join({DamagedIn(300, one), DamagedIn(300, other)}, kJoinSamples, kJoinWindow, 0, slots);
    EXPECT_TRUE(order.status.ok()) << order.status;
    EXPECT_EQ(order.blocks, 300u);
    EXPECT_EQ(order.damaged, std::set<uint64_t>());
    EXPECT_EQ(order.counts.missing, 0u);
  }
}

// As two nodes have it, each of which was away for a time.
TEST(JoinerTest, WhatOneCopyLacksIsTakenFromTheOther) {
  std::vector<std::vector<uint64_t>> parts(2);
  for (uint64_t i = 0; i < 1000; ++i) {
    if (i < 100 || i >= 300) parts[0].push_back(i);
    if (i < 500 || i >= 900) parts[1].push_back(i);
  }
  for (const size_t slots : {2u, 8u, 64u}) {
    const JoinedOrder order =
        Join({Samples(parts[0]), Samples(parts[1])}, kJoinSamples, kJoinWindow, 0, slots);
    EXPECT_TRUE(order.status.ok()) << order.status;
    EXPECT_EQ(order.blocks, 1000u);
    EXPECT_EQ(order.missing.size(), 0u);
    EXPECT_EQ(order.counts.twice, 400u);
  }
}

TEST(JoinerTest, WhatIsDamagedInAllPartsIsGivenAsThat) {
  const std::set<uint64_t> both = {0, 100, 101, 299};
  const JoinedOrder order =
      Join({DamagedIn(300, both), DamagedIn(300, both)}, kJoinSamples, kJoinWindow);
  EXPECT_TRUE(order.status.ok()) << order.status;
  EXPECT_EQ(order.blocks, 300u);
  EXPECT_EQ(order.damaged, both);
  EXPECT_EQ(order.counts.missing, 4u);
}

TEST(JoinerTest, ADamagedBlockOfWhichThereIsNoOtherIsGiven) {
  std::vector<uint64_t> lone = Samples(Range(0, 300, 2));
  lone[50] |= kDamagedBit;
  const JoinedOrder order = Join({lone, Samples(Range(1, 300, 2))}, kJoinSamples, kJoinWindow);
  EXPECT_EQ(order.blocks, 300u);
  EXPECT_EQ(order.damaged, std::set<uint64_t>({100}));
}

TEST(JoinerTest, TheLastBlocksAreAGapWhereAllPartsLackThem) {
  std::vector<uint64_t> part = Samples(Range(0, 300, 1));
  std::set<uint64_t> lost = {20};
  for (uint64_t i = 200; i < 300; ++i) lost.insert(i);
  for (const uint64_t block : lost) part[block] |= kMissingBit;
  for (const size_t copies : {1u, 2u}) {
    const std::vector<std::vector<uint64_t>> parts(copies, part);
    const JoinedOrder order = Join(parts, kJoinSamples, kJoinWindow);
    EXPECT_TRUE(order.status.ok()) << order.status;
    EXPECT_EQ(order.blocks, 300u);
    EXPECT_EQ(order.missing, lost);
  }
}

TEST(JoinerTest, BeginsInTheMiddle) {
  const JoinedOrder order = JoinBlocks({Range(0, 300, 2), Range(1, 300, 2)}, 100);
  EXPECT_EQ(order.blocks, 200u);
  EXPECT_EQ(order.missing.size(), 0u);
  EXPECT_EQ(order.counts.twice, 0u);
}

JoinedOrder JoinAlone(const std::vector<std::vector<uint64_t>>& parts, size_t alone) {
  return Join(parts, kJoinSamples, kJoinWindow, 0, 8, alone);
}

// Of two copies one is read, and of the other what it has around the end, which might be later.
TEST(JoinerTest, OneCopyThatIsWholeIsReadAlone) {
  const std::vector<uint64_t> all = Samples(Range(0, 500, 1));
  for (const size_t alone : {0, 1}) {
    const JoinedOrder order = JoinAlone({all, all}, alone);
    EXPECT_TRUE(order.status.ok()) << order.status;
    EXPECT_EQ(order.blocks, 500u);
    EXPECT_EQ(order.missing.size(), 0u);
    EXPECT_EQ(order.given[alone], 500u);
    EXPECT_LE(order.given[1 - alone], kJoinWindow);
  }
}

TEST(JoinerTest, WhatTheCopyThatIsReadAloneLacksComesFromTheOther) {
  const std::vector<uint64_t> all = Samples(Range(0, 500, 1));
  std::vector<uint64_t> damaged = all;
  std::vector<uint64_t> missing = all;
  std::vector<uint64_t> absent = all;
  for (size_t i = 300; i < 400; i += 7) {
    damaged[i] |= kDamagedBit;
    missing[i] |= kMissingBit;
  }
  absent.erase(absent.begin() + 300, absent.begin() + 400);
  const std::vector<uint64_t> shorter(all.begin(), all.begin() + 300);
  for (const auto& part : {damaged, missing, absent, shorter}) {
    const JoinedOrder order = JoinAlone({part, all}, 0);
    EXPECT_TRUE(order.status.ok()) << order.status;
    EXPECT_EQ(order.blocks, 500u);
    EXPECT_EQ(order.missing.size(), 0u);
    EXPECT_EQ(order.damaged.size(), 0u);
    EXPECT_LE(order.given[1], 200 + kJoinWindow) << "it is read from where it is wanted";
    const JoinedOrder other = JoinAlone({part, all}, 1);
    EXPECT_EQ(other.missing.size() + other.damaged.size(), 0u);
    EXPECT_LE(other.given[0], kJoinWindow);
  }
}

TEST(JoinerTest, WhatBothCopiesLackIsMissingWhicheverIsReadAlone) {
  std::vector<uint64_t> all = Samples(Range(0, 200, 1));
  all[50] |= kDamagedBit;
  all[60] |= kMissingBit;
  const JoinedOrder order = JoinAlone({all, all}, 0);
  EXPECT_EQ(order.blocks, 200u);
  EXPECT_EQ(order.damaged, std::set<uint64_t>{50});
  EXPECT_EQ(order.missing, std::set<uint64_t>{60});
}

TEST(JoinerTest, WhatNoPartHasIsRefused) {
  EXPECT_EQ(ReasonOf(Join({{5}}, kJoinSamples, kJoinWindow).status)->reason, "PROTOCOL_VIOLATION");
  // Behind by more than the reorder window.
  const JoinedOrder back = JoinBlocks({{0, 100, 1}});
  EXPECT_EQ(ReasonOf(back.status)->reason, "PROTOCOL_VIOLATION");
  EXPECT_EQ(ReasonOf(Join({{(kMissingBit - 1) / 10 * 10}}, 10, kJoinWindow).status)->reason,
            "PROTOCOL_VIOLATION");
}

TEST(JoinerTest, NoPartHasAnything) {
  const JoinedOrder order = JoinBlocks({{}, {}});
  EXPECT_TRUE(order.status.ok());
  EXPECT_EQ(order.blocks, 0u);
}

TEST(ReorderWindowTest, IsBoundedInMemory) {
  EXPECT_EQ(ReorderWindowOf(4096), kMaxReorderWindow);
  EXPECT_EQ(ReorderWindowOf(1 << 20), 256u);
  EXPECT_EQ(ReorderWindowOf(8 << 20), 32u);
}

}  // namespace
}  // namespace tapedeck::services::parts
