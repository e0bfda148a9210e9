// A stream that is dealt to nodes in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "dataplane/memory/slot_pool.h"
#include "services/session/parts/dealer.h"
#include "tests/services/session/parts/dealt_node.h"
#include "tests/services/session/parts/joined_order.h"
#include "tests/sim/ends.h"
#include "tests/sim/simulated_session.h"
#include "tests/sim/world.h"

namespace tapedeck::services::parts {

using dataplane::kMicrosecondNs;
using dataplane::kMillisecondNs;
using dataplane::kSecondNs;

inline constexpr uint64_t kPatternSamples = 100;  // as PatternSource counts them
inline constexpr size_t kBytes = 64;
inline constexpr uint64_t kDealtWindow = 256;

class Dealing {
 public:
  Dealing(uint64_t seed, uint64_t blocks, size_t slots, const std::vector<NodeModel>& models,
          uint32_t copies = 1)
      : world(seed), executor(world.NewExecutor("worker")) {
    dealer = std::make_shared<Dealer>(
        executor.clock(), std::make_unique<sim::PatternSource>(sim::NewRing(slots, kBytes), blocks),
        DealSettings{.block_samples = kPatternSamples,
                     .slots = slots,
                     .reorder_window = kDealtWindow,
                     .parts = models.size(),
                     .copies = copies});
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

// Nodes are suspected at any time, rightly or not.
inline void SuspectSome(Dealing& dealing, std::mt19937_64& random) {
  for (int doubt = 0; doubt < 4; ++doubt) {
    const size_t part = random() % dealing.nodes.size();
    const auto at = static_cast<int64_t>(random() % 200) * 1000 * kMicrosecondNs;
    const auto lasts = static_cast<int64_t>(random() % 50) * 1000 * kMicrosecondNs;
    dealing.executor.PostAt(at, [&dealing, part, silent = random() % 2 == 0] {
      dealing.dealer->Suspect(part, silent);
    });
    dealing.executor.PostAt(at + lasts, [&dealing, part] { dealing.dealer->Trust(part); });
  }
}

// Nodes die at any time, with blocks that are there and not acknowledged; each comes back, but for
// one in some lives. Every block is in some part, and joined they are the stream.
inline void Live(uint64_t seed, uint32_t copies) {
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
  Dealing dealing(seed, blocks, 32 + random() % 96, models, copies);
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
  if (random() % 2 == 0) SuspectSome(dealing, random);
  dealing.Run();
  std::vector<std::vector<uint64_t>> parts;
  for (const auto& node : dealing.nodes) parts.push_back(node->recorded);
  const JoinedOrder joined = Join(parts, kPatternSamples, kDealtWindow);
  EXPECT_EQ(joined.missing, std::set<uint64_t>());
  EXPECT_EQ(joined.blocks, blocks);
  const DealCounts& counts = dealing.dealer->counts();
  EXPECT_EQ(counts.acknowledged, blocks);
  if (copies == 1) return;
  std::vector<std::set<size_t>> holders(blocks);
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const uint64_t sample : parts[i]) holders[sample / kPatternSamples].insert(i);
  }
  const auto too_few = static_cast<uint64_t>(
      std::ranges::count_if(holders, [](const auto& parts_of) { return parts_of.size() < 2; }));
  EXPECT_LE(too_few, counts.too_few);
}

}  // namespace tapedeck::services::parts
