// Dealing in virtual time: to nodes of different rates, and to nodes that die and come back.
#include "services/session/parts/dealer.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/services/session/parts/dealing.h"
#include "tests/sim/paced_source.h"

namespace tapedeck::services::parts {
namespace {

TEST(DealerTest, RatesAddUp) {
  for (const size_t count : {1u, 2u, 4u}) {
    Dealing dealing(1, 20'000, 128,
                    std::vector<NodeModel>(count, {.block_ns = 100 * kMicrosecondNs}));
    const double rate = 20'000 / dealing.Run();
    EXPECT_GE(rate, 0.95 * 10'000 * static_cast<double>(count)) << count << " nodes";
  }
}

TEST(DealerTest, ANodeThatIsThrottledCostsTheOthersLittle) {
  const NodeModel fast{.block_ns = 100 * kMicrosecondNs};
  Dealing dealing(2, 40'000, 128, {fast, fast, {.block_ns = 300 * kMicrosecondNs}});
  const double rate = 40'000 / dealing.Run();
  const double sum = 10'000 * (2 + 1.0 / 3);
  EXPECT_GE(rate, 0.9 * sum);
  RecordProperty("percent_of_sum", static_cast<int>(100 * rate / sum));
  EXPECT_LT(dealing.nodes[2]->recorded.size(), dealing.nodes[0]->recorded.size() / 2);
}

// With half of what all could take none is near its limit, and blocks that cannot wait find room.
TEST(DealerTest, WhatAllCouldTakeIsSpreadOverThem) {
  sim::World world(4);
  dataplane::Executor& executor = world.NewExecutor("worker");
  const auto ring = sim::NewRing(64, kBytes);
  std::set<uint64_t> lost;
  const auto dealer = std::make_shared<Dealer>(
      executor.clock(),
      std::make_unique<sim::PacedSource>(
          executor, ring,
          sim::SourcePace{.blocks = 8000, .period_ns = 50 * kMicrosecondNs, .block_bytes = kBytes},
          &lost),
      DealSettings{.block_samples = kPatternSamples,
                   .slots = 64,
                   .reorder_window = kDealtWindow,
                   .parts = 4});
  std::vector<std::unique_ptr<DealtNode>> nodes;
  for (size_t i = 0; i < 4; ++i) {
    nodes.push_back(std::make_unique<DealtNode>(executor, dealer, i,
                                                NodeModel{.block_ns = 100 * kMicrosecondNs}));
  }
  executor.Post([&] {
    for (auto& node : nodes) node->Begin();
  });
  EXPECT_TRUE(world.RunUntil([&] { return dealer->complete(); }, 60 * kSecondNs));
  EXPECT_EQ(lost.size(), 0u);
  size_t least = SIZE_MAX;
  size_t most = 0;
  for (const auto& node : nodes) {
    least = std::min(least, node->recorded.size());
    most = std::max(most, node->recorded.size());
  }
  EXPECT_LE(most, 2 * least);
}

TEST(DealerTest, ANodeThatAcknowledgesNothingKeepsFewSlots) {
  const NodeModel fast{.block_ns = 100 * kMicrosecondNs};
  Dealing dealing(3, 400, 64, {fast, {.block_ns = 3600 * kSecondNs}});
  dealing.executor.Post([&] {
    for (auto& node : dealing.nodes) node->Begin();
  });
  dealing.world.RunUntil([] { return false; }, 5 * kSecondNs);
  EXPECT_LE(dealing.dealer->Share(1), 64u / 8);
  EXPECT_FALSE(dealing.dealer->complete());
  dealing.executor.Post([&] { dealing.nodes[1]->Die(/*some_are_there=*/false); });
  EXPECT_TRUE(dealing.world.RunUntil([&] { return dealing.done(); }, 1'000'000 * kSecondNs));
  EXPECT_EQ(dealing.nodes[0]->recorded.size() + dealing.nodes[1]->recorded.size(), 400u);
}

// One that hangs holds nothing up once it is suspected, and gets blocks again once it is not.
TEST(DealerTest, WhatASuspectedPartHasGoesToTheOthers) {
  sim::World world(5);
  dataplane::Executor& executor = world.NewExecutor("worker");
  std::set<uint64_t> lost;
  const auto dealer = std::make_shared<Dealer>(
      executor.clock(),
      std::make_unique<sim::PacedSource>(
          executor, sim::NewRing(128, kBytes),
          sim::SourcePace{.blocks = 4000, .period_ns = kMillisecondNs, .block_bytes = kBytes},
          &lost),
      DealSettings{.block_samples = kPatternSamples,
                   .slots = 128,
                   .reorder_window = kDealtWindow,
                   .parts = 3});
  std::vector<std::unique_ptr<DealtNode>> nodes;
  for (size_t i = 0; i < 3; ++i) {
    nodes.push_back(std::make_unique<DealtNode>(
        executor, dealer, i, NodeModel{.block_ns = 500 * kMicrosecondNs, .group = 2}));
  }
  const auto at = [&](int64_t ms, auto task) { executor.PostAt(ms * kMillisecondNs, task); };
  at(0, [&] {
    for (auto& node : nodes) node->Begin();
  });
  at(500, [&] { nodes[1]->Hang(); });
  at(760, [&] { EXPECT_TRUE(dealer->HoldsUp(1)); });
  at(800, [&] { dealer->Suspect(1, /*silent=*/true); });
  at(810, [&] {
    EXPECT_FALSE(dealer->HoldsUp(1));
    EXPECT_GT(dealer->open(1), 0u) << "it keeps them";
    EXPECT_GT(dealer->counts().again, 0u);
  });
  at(3000, [&] {
    EXPECT_GT(dealer->counts().acknowledged, 2900u);
    nodes[1]->GoOn();
    dealer->Trust(1);
  });
  EXPECT_TRUE(world.RunUntil([&] { return dealer->complete(); }, 60 * kSecondNs));
  EXPECT_EQ(lost, std::set<uint64_t>());
  EXPECT_GT(nodes[1]->recorded.size(), 400u);
  std::vector<std::vector<uint64_t>> parts;
  for (const auto& node : nodes) parts.push_back(node->recorded);
  const JoinedOrder joined = Join(parts, kPatternSamples, kDealtWindow);
  EXPECT_EQ(joined.missing, std::set<uint64_t>());
  EXPECT_EQ(joined.blocks, 4000u);
}

TEST(DealerTest, EveryBlockIsInSomePartWhoeverDies) {
  for (uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) Live(seed, 1);
}

TEST(DealerTest, WhatIsNotOfTheStreamIsRefused) {
  sim::World world(1);
  auto& executor = world.NewExecutor("worker");
  Dealer dealer(executor.clock(), std::make_unique<sim::PatternSource>(sim::NewRing(8, kBytes), 8),
                {.block_samples = 99, .slots = 8, .reorder_window = kDealtWindow, .parts = 1});
  dataplane::Block block;
  EXPECT_TRUE(dealer.Pull(0, &block).ok());
  EXPECT_FALSE(dealer.Pull(0, &block).ok()) << "block 1 begins at sample 100";
  EXPECT_FALSE(dealer.error().ok());
}

}  // namespace
}  // namespace tapedeck::services::parts
