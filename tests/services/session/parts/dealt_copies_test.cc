// Two copies of each block, in virtual time.
#include <gtest/gtest.h>

#include "tests/services/session/parts/dealing.h"

namespace tapedeck::services::parts {
namespace {

// The last of its blocks is not full.
class PartialEnd final : public dataplane::Source {
 public:
  PartialEnd(std::shared_ptr<dataplane::SlotPool> ring, uint64_t blocks)
      : blocks_(blocks), pattern_(std::move(ring), blocks) {}
  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override {
    const auto flow = pattern_.Pull(block);
    if (flow.ok() && *flow == dataplane::Flow::kMoved && block->header().sequence + 1 == blocks_) {
      block->header().flags |= dataplane::kBlockPartial;
    }
    return flow;
  }
  void SetWaker(dataplane::Waker waker) override { pattern_.SetWaker(std::move(waker)); }
  void Acknowledge(uint64_t watermark) override { pattern_.Acknowledge(watermark); }
  absl::Status Reject(const dataplane::BlockHeader& header) override {
    return pattern_.Reject(header);
  }

 private:
  const uint64_t blocks_;
  sim::PatternSource pattern_;
};

// How many parts have each block; none has one twice.
std::vector<size_t> CopiesOf(const Dealing& dealing, uint64_t blocks) {
  std::vector<size_t> copies(blocks);
  for (const auto& node : dealing.nodes) {
    const std::set<uint64_t> distinct(node->recorded.begin(), node->recorded.end());
    EXPECT_EQ(distinct.size(), node->recorded.size());
    for (const uint64_t sample : distinct) ++copies[sample / kPatternSamples];
  }
  return copies;
}

TEST(DealtCopiesTest, OfTwoNodesAndTwoCopiesEachHasAllInOrder) {
  // The slower one says how fast it goes; the other one waits for it within the ring.
  Dealing dealing(5, 10'000, 64,
                  {{.block_ns = 100 * kMicrosecondNs}, {.block_ns = 200 * kMicrosecondNs}}, 2);
  EXPECT_GE(10'000 / dealing.Run(), 0.95 * 5'000);
  for (const auto& node : dealing.nodes) {
    EXPECT_EQ(node->recorded.size(), 10'000u);
    EXPECT_TRUE(std::ranges::is_sorted(node->recorded));
  }
  EXPECT_EQ(CopiesOf(dealing, 10'000), std::vector<size_t>(10'000, 2));
  EXPECT_EQ(dealing.dealer->counts().acknowledged, 10'000u);
  EXPECT_EQ(dealing.dealer->counts().bytes, 10'000 * kBytes);
  EXPECT_EQ(dealing.dealer->counts().too_few, 0u);
}

TEST(DealtCopiesTest, OfThreeNodesTwoHaveEachBlock) {
  const NodeModel fast{.block_ns = 100 * kMicrosecondNs};
  Dealing dealing(6, 20'000, 128, {fast, fast, {.block_ns = 200 * kMicrosecondNs}}, 2);
  EXPECT_GE(20'000 / dealing.Run(), 0.9 * (10'000 + 10'000 + 5'000) / 2);
  EXPECT_EQ(CopiesOf(dealing, 20'000), std::vector<size_t>(20'000, 2));
}

// A block that nobody else can take is done with one copy; with the node that comes back there are
// two again, and what is counted as too few is what the lost node lacks.
TEST(DealtCopiesTest, WhileOneOfTwoNodesIsAwayThereIsOneCopy) {
  const NodeModel model{.block_ns = 100 * kMicrosecondNs};
  Dealing dealing(7, 20'000, 64, {model, model}, 2);
  DealtNode& lost = *dealing.nodes[1];
  std::optional<uint64_t> from;
  dealing.executor.PostAt(500'000 * kMicrosecondNs, [&] { lost.Die(/*some_are_there=*/false); });
  dealing.executor.PostAt(900'000 * kMicrosecondNs, [&] {
    from = dealing.dealer->degraded_from();
    EXPECT_GT(dealing.dealer->counts().acknowledged, 8'000u) << "the other one stands still";
    lost.Begin();
  });
  dealing.Run();
  EXPECT_EQ(dealing.dealer->degraded_from(), std::nullopt);
  EXPECT_EQ(dealing.nodes[0]->recorded.size(), 20'000u);
  const std::vector<size_t> copies = CopiesOf(dealing, 20'000);
  const DealCounts& counts = dealing.dealer->counts();
  EXPECT_EQ(static_cast<uint64_t>(std::ranges::count(copies, 1u)), counts.too_few);
  EXPECT_GT(counts.too_few, 3'000u);
  EXPECT_LT(counts.too_few, 5'000u);
  EXPECT_EQ(std::ranges::find(copies, 1u) - copies.begin(),
            static_cast<int64_t>(counts.first_too_few));
  EXPECT_EQ(from, counts.first_too_few);
}

// As fast as there is room: the one that hangs has what the ring has, but for what the other needs.
TEST(DealtCopiesTest, WhileOneOfTwoNodesIsSilentThereIsOneCopy) {
  const NodeModel model{.block_ns = 100 * kMicrosecondNs};
  Dealing dealing(9, 20'000, 64, {model, model}, 2);
  DealtNode& silent = *dealing.nodes[1];
  dealing.executor.PostAt(500'000 * kMicrosecondNs, [&] { silent.Hang(); });
  dealing.executor.PostAt(600'000 * kMicrosecondNs, [&] {
    EXPECT_LT(dealing.dealer->counts().acknowledged, 5'000u) << "nobody waits for two copies";
    dealing.dealer->Suspect(1, /*silent=*/true);
    EXPECT_TRUE(dealing.dealer->degraded_from().has_value());
  });
  dealing.executor.PostAt(1'000'000 * kMicrosecondNs, [&] {
    EXPECT_GT(dealing.dealer->counts().acknowledged, 8'000u) << "the other one stands still";
    silent.GoOn();
    dealing.dealer->Trust(1);
    EXPECT_EQ(dealing.dealer->degraded_from(), std::nullopt);
  });
  dealing.Run();
  EXPECT_EQ(dealing.nodes[0]->recorded.size(), 20'000u);
  const std::vector<size_t> copies = CopiesOf(dealing, 20'000);
  const auto single = static_cast<uint64_t>(std::ranges::count(copies, 1u));
  EXPECT_LE(single, dealing.dealer->counts().too_few);
  EXPECT_LT(dealing.dealer->counts().too_few, 6'000u);
}

TEST(DealtCopiesTest, TheLastBlockWhichIsPartialGoesToBoth) {
  sim::World world(8);
  dataplane::Executor& executor = world.NewExecutor("worker");
  const auto ring = sim::NewRing(8, kBytes);
  const auto dealer =
      std::make_shared<Dealer>(executor.clock(), std::make_unique<PartialEnd>(ring, 20),
                               DealSettings{.block_samples = kPatternSamples,
                                            .slots = 8,
                                            .reorder_window = kDealtWindow,
                                            .parts = 2,
                                            .copies = 2});
  std::vector<std::unique_ptr<DealtNode>> nodes;
  for (size_t i = 0; i < 2; ++i) {
    nodes.push_back(
        std::make_unique<DealtNode>(executor, dealer, i, NodeModel{.block_ns = kMicrosecondNs}));
  }
  executor.Post([&] {
    for (auto& node : nodes) node->Begin();
  });
  EXPECT_TRUE(world.RunUntil([&] { return nodes[0]->done && nodes[1]->done; }, kSecondNs));
  for (const auto& node : nodes) {
    ASSERT_EQ(node->recorded.size(), 20u);
    EXPECT_EQ(node->recorded.back(), 19 * kPatternSamples);
  }
  nodes.clear();
  std::vector<dataplane::Block> slots;
  while (auto slot = ring->Take()) slots.push_back(*std::move(slot));
  EXPECT_EQ(slots.size(), 8u) << "a copy has kept its slot";
}

TEST(DealtCopiesTest, EveryBlockHasTwoCopiesOrIsCountedWhoeverDies) {
  for (uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) Live(seed, 2);
}

}  // namespace
}  // namespace tapedeck::services::parts
