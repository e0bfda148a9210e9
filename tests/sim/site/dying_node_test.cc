// Storage nodes that die at a moment that the seed chooses, under workers that record over several
// of them, with the power or without, and come back or not; or that hang for a while. Nothing that
// was acknowledged is lost; a job that ends well has every block in some part, and joined they are
// the stream.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "services/session/parts/reorder_window.h"
#include "tests/services/session/parts/joined_order.h"
#include "tests/sim/fired.h"
#include "tests/sim/seeds.h"
#include "tests/sim/site/modelled_site.h"

namespace tapedeck::sim {
namespace {

using dataplane::kMillisecondNs;
using dataplane::kSecondNs;

class DyingLife {
 public:
  DyingLife(uint64_t seed, Fired& fired, uint32_t copies = 1)
      : fired_(fired), copies_(copies), random_(seed * 7919), site_(Figures(seed)) {}

  uint64_t Execute() {
    EXPECT_TRUE(site_.Begin()) << "not every part began";
    if (testing::Test::HasFailure()) return 0;
    // A part that has begun has its rails, too.
    site_.RunFor(10 * kMillisecondNs);
    everything_ends_ = random_() % 3 == 0;
    Fate();
    const auto over = [this] {
      if (ended_) return true;
      if (!site_.ended()) return false;
      for (size_t i = 0; i < site_.nodes(); ++i) {
        if (site_.node(i).up() && !site_.node(i).at_rest()) return false;
      }
      return true;
    };
    EXPECT_TRUE(site_.RunUntil(over, 600 * kSecondNs)) << "it never ended";
    if (!testing::Test::HasFailure()) Check();
    return site_.world().fingerprint();
  }

 private:
  SiteFigures Figures(uint64_t seed) {
    SiteFigures figures{.seed = seed};
    const size_t nodes = 2 + random_() % 3;
    for (size_t i = 0; i < nodes; ++i) {
      figures.nodes.push_back(
          {.drives = static_cast<uint32_t>(1 + random_() % 2),
           .bytes_per_s = 600'000'000 * (1 + random_() % 6),
           .flush_ns = static_cast<int64_t>(1 + random_() % 40) * kMillisecondNs / 10});
    }
    const size_t workers = 1 + random_() % 2;
    for (size_t i = 0; i < workers; ++i) {
      figures.workers.push_back(
          {.blocks = 100 + random_() % 300, .slots = 16 + random_() % 112, .copies = copies_});
    }
    blocks_ = figures.workers;
    return figures;
  }

  // When one of them dies: soon, while much is under way, or later.
  void Fate() {
    const int64_t most_ns = random_() % 2 == 0 ? 5 * kMillisecondNs : 60 * kMillisecondNs;
    site_.fate().PostAfter(static_cast<int64_t>(random_() % most_ns), [this] { Strike(); });
  }

  void Strike() {
    if (site_.ended()) return;
    if (everything_ends_) {
      ++fired_["everything lost its power"];
      for (size_t i = 0; i < site_.nodes(); ++i) {
        if (site_.node(i).up()) site_.node(i).Die(/*power_cut=*/true);
      }
      ended_ = true;
      return;
    }
    const size_t victim = random_() % site_.nodes();
    if (!site_.node(victim).up()) return;
    if (random_() % 5 == 0) return Hang(victim);
    const bool power = random_() % 2 == 0;
    ++fired_[power ? "node lost its power" : "node was killed"];
    if (!site_.node(victim).at_rest()) ++fired_["of those: while it recorded"];
    site_.node(victim).Die(power);
    if (random_() % 3 == 0) {
      ++fired_["node stayed away"];
      return;
    }
    site_.fate().PostAfter(static_cast<int64_t>(random_() % (300 * kMillisecondNs)),
                           [this, victim] {
                             site_.node(victim).ComeBack();
                             ++fired_["node came back"];
                             if (random_() % 2 == 0) Fate();
                           });
  }

  void Hang(size_t victim) {
    ++fired_["node hung"];
    site_.node(victim).Freeze(true);
    site_.fate().PostAfter(static_cast<int64_t>(random_() % (20 * kSecondNs)), [this, victim] {
      site_.node(victim).Freeze(false);
      if (random_() % 2 == 0) Fate();
    });
  }

  void Check() {
    for (size_t w = 0; w < site_.workers(); ++w) {
      SCOPED_TRACE(testing::Message() << "worker " << w);
      CheckWorker(w);
    }
  }

  void CheckWorker(size_t number) {
    const ModelledWorker& worker = site_.worker(number);
    std::vector<std::vector<uint64_t>> parts;
    std::set<uint64_t> there;
    size_t copies = 0;
    for (size_t n = 0; n < site_.nodes(); ++n) {
      std::vector<uint64_t> blocks = site_.node(n).Recorded(number);
      there.insert(blocks.begin(), blocks.end());
      copies += blocks.size();
      for (uint64_t& block : blocks) block *= kModelledSamples;
      parts.push_back(std::move(blocks));
    }
    fired_["blocks acknowledged"] += worker.acknowledged();
    fired_["given to another node"] += worker.counts().again;
    fired_["in two parts"] += copies - there.size();
    EXPECT_GE(there.size(), worker.acknowledged()) << "an acknowledged block is lost";
    for (uint64_t i = 0; i < worker.watermark(); ++i) {
      EXPECT_TRUE(there.contains(i)) << "block " << i << " was acknowledged and is lost";
    }
    if (copies_ > 1) CheckCopies(worker, parts);
    if (ended_) return;
    EXPECT_TRUE(worker.result().error.ok()) << worker.result().error;
    EXPECT_EQ(worker.acknowledged(), blocks_[number].blocks);
    const auto joined = services::parts::Join(
        parts, kModelledSamples, services::parts::ReorderWindowOf(kModelledBlockBytes));
    EXPECT_TRUE(joined.status.ok()) << joined.status;
    EXPECT_EQ(joined.missing, std::set<uint64_t>());
    EXPECT_EQ(joined.blocks, blocks_[number].blocks);
  }

  // What was acknowledged is on two nodes, but for what is counted, and then the notes say so.
  void CheckCopies(const ModelledWorker& worker, const std::vector<std::vector<uint64_t>>& parts) {
    std::map<uint64_t, size_t> holders;  // by sample
    for (const std::vector<uint64_t>& part : parts) {
      for (const uint64_t sample : std::set<uint64_t>(part.begin(), part.end())) ++holders[sample];
    }
    uint64_t single = 0;
    for (uint64_t i = 0; i < worker.watermark(); ++i) {
      single += holders[i * kModelledSamples] < 2 ? 1 : 0;
    }
    const services::parts::DealCounts& counts = worker.counts();
    EXPECT_LE(single, counts.too_few);
    fired_["acknowledged with one copy"] += counts.too_few;
    fired_["on two nodes"] += worker.watermark() - single;
    if (ended_ || counts.too_few == 0) return;
    const auto tells = [](const services::Note& note) {
      return note.code == "ONE_COPY" || note.facts.contains("degraded_from");
    };
    EXPECT_GE(std::ranges::count_if(worker.notes(), tells), 1);
  }

  Fired& fired_;
  const uint32_t copies_;
  std::mt19937_64 random_;
  std::vector<WorkerStream> blocks_;
  Site site_;
  bool everything_ends_ = false;
  bool ended_ = false;
};

// TAPEDECK_LONG: 2,000.
TEST(DyingNodeSim, NothingAcknowledgedIsLost) {
  Fired fired;
  for (const uint64_t seed : FaultSeeds(std::getenv("TAPEDECK_LONG") != nullptr ? 500 : 60)) {
    SCOPED_TRACE(HowToRepeat(seed));
    DyingLife(seed, fired).Execute();
    if (HasFailure()) return;
  }
  Print(fired);
  for (const char* what :
       {"everything lost its power", "node lost its power", "node was killed", "node stayed away",
        "node came back", "node hung", "of those: while it recorded", "given to another node",
        "in two parts"}) {
    EXPECT_GT(fired[what], 0u) << what;
  }
}

TEST(DyingNodeSim, WhatIsAcknowledgedHasTwoCopiesOrIsCounted) {
  Fired fired;
  for (const uint64_t seed : FaultSeeds(std::getenv("TAPEDECK_LONG") != nullptr ? 500 : 60)) {
    SCOPED_TRACE(HowToRepeat(seed));
    DyingLife(seed, fired, /*copies=*/2).Execute();
    if (HasFailure()) return;
  }
  Print(fired);
  for (const char* what : {"everything lost its power", "node lost its power", "node was killed",
                           "node stayed away", "node came back", "node hung",
                           "given to another node", "acknowledged with one copy", "on two nodes"}) {
    EXPECT_GT(fired[what], 0u) << what;
  }
}

TEST(DyingNodeSim, SameSeedRunsTheSame) {
  Fired fired;
  for (const uint64_t seed : {3, 7}) {
    EXPECT_EQ(DyingLife(seed, fired).Execute(), DyingLife(seed, fired).Execute());
  }
}

}  // namespace
}  // namespace tapedeck::sim
