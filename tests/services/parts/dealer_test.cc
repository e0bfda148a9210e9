// Dealing in virtual time: to nodes of different rates, and to nodes that die and come back.
#include "services/parts/dealer.h"

#include <gtest/gtest.h>

#include <set>

#include "dataplane/memory/slot_pool.h"
#include "services/parts/joiner.h"
#include "services/parts/spread.h"
#include "tests/services/parts/dealt_node.h"
#include "tests/services/parts/joined_order.h"
#include "tests/sim/ends.h"
#include "tests/sim/paced_source.h"
#include "tests/sim/simulated_session.h"
#include "tests/sim/world.h"

namespace tapedeck::services::parts {
namespace {

using dataplane::kMicrosecondNs;
using dataplane::kSecondNs;

constexpr uint64_t kPatternSamples = 100;  // as PatternSource counts them
constexpr size_t kBytes = 64;
constexpr uint64_t kDealtSpread = 256;

class Dealing {
 public:
  Dealing(uint64_t seed, uint64_t blocks, size_t slots, const std::vector<NodeModel>& models)
      : world(seed), executor(world.NewExecutor("worker")) {
    dealer = std::make_shared<Dealer>(
        executor.clock(), std::make_unique<sim::PatternSource>(sim::NewRing(slots, kBytes), blocks),
        kPatternSamples, slots, kDealtSpread, models.size());
    for (size_t i = 0; i < models.size(); ++i) {
      nodes.push_back(std::make_unique<DealtNode>(executor, dealer, i, models[i]));
    }
  }

  bool done() const {
    return dealer->complete() &&
           std::ranges::all_of(nodes, [](const auto& n) { return n->done || !n->alive(); });
  }
  // In seconds.
  double Run() {
    executor.Post([this] {
      for (auto& node : nodes) node->Begin();
    });
    EXPECT_TRUE(world.RunUntil([this] { return done(); }, 3600 * kSecondNs)) << "it never ended";
    return static_cast<double>(world.clock().now_ns) / 1e9;
  }

  sim::World world;
  dataplane::Executor& executor;
  std::shared_ptr<Dealer> dealer;
  std::vector<std::unique_ptr<DealtNode>> nodes;
};

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
      kPatternSamples, 64, kDealtSpread, 4);
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

// Nodes die at any time, with blocks that are there and not acknowledged; each comes back, but for
// one in some lives. Every block is in some part, and joined they are the stream.
void Live(uint64_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const size_t count = 2 + random() % 3;
  const uint64_t blocks = 500 + random() % 2500;
  std::vector<NodeModel> models;
  for (size_t i = 0; i < count; ++i) {
    models.push_back({.block_ns = static_cast<int64_t>(20 + random() % 400) * kMicrosecondNs,
                      .depth = 8 + random() % 120,
                      .group = 1 + random() % 16});
  }
  Dealing dealing(seed, blocks, 32 + random() % 96, models);
  const bool one_stays_away = random() % 4 == 0;
  for (int kill = 0; kill < 6; ++kill) {
    const size_t victim = random() % count;
    const auto at = static_cast<int64_t>(random() % 200) * 1000 * kMicrosecondNs;
    const auto back = static_cast<int64_t>(random() % 50) * 1000 * kMicrosecondNs;
    dealing.executor.PostAt(at, [&dealing, victim, back, one_stays_away, some = random() % 2 == 0] {
      DealtNode& node = *dealing.nodes[victim];
      if (!node.alive() || node.done) return;
      node.Die(some);
      if (one_stays_away && victim == 1) return;
      dealing.executor.PostAfter(back + 1000, [&node, &dealing] {
        if (!dealing.dealer->complete() && node.buried()) node.Begin();
      });
    });
  }
  dealing.Run();
  std::vector<std::vector<uint64_t>> parts;
  for (const auto& node : dealing.nodes) parts.push_back(node->recorded);
  const JoinedOrder joined = Join(parts, kPatternSamples, kDealtSpread);
  EXPECT_EQ(joined.missing, std::set<uint64_t>());
  EXPECT_EQ(joined.blocks, blocks);
  EXPECT_EQ(dealing.dealer->counts().acknowledged, blocks);
}

TEST(DealerTest, EveryBlockIsInSomePartWhoeverDies) {
  for (uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) Live(seed);
}

TEST(DealerTest, WhatIsNotOfTheStreamIsRefused) {
  sim::World world(1);
  auto& executor = world.NewExecutor("worker");
  Dealer dealer(executor.clock(), std::make_unique<sim::PatternSource>(sim::NewRing(8, kBytes), 8),
                /*block_samples=*/99, 8, kDealtSpread, 1);
  dataplane::Block block;
  EXPECT_TRUE(dealer.Pull(0, &block).ok());
  EXPECT_FALSE(dealer.Pull(0, &block).ok()) << "block 1 begins at sample 100";
  EXPECT_FALSE(dealer.error().ok());
}

}  // namespace
}  // namespace tapedeck::services::parts
