// Storage nodes that stand still for a while, under streams that cannot wait. In virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/services/noted.h"
#include "tests/sim/site/modelled_site.h"

namespace tapedeck::sim {
namespace {

using dataplane::kMillisecondNs;
using dataplane::kSecondNs;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr DriveFigures kDrivesOfHanging{
    .drives = 2, .bytes_per_s = 1'000'000'000, .flush_ns = kMillisecondNs};

class HangingNodeSim {
 public:
  HangingNodeSim(size_t nodes, const WorkerStream& stream)
      : blocks_(stream.blocks),
        site({.workers = {stream}, .nodes = std::vector<DriveFigures>(nodes, kDrivesOfHanging)}) {}

  // The second node hangs for so long, after a second of recording.
  void Run(int64_t hangs_ns) {
    ASSERT_TRUE(site.Begin());
    site.RunFor(kSecondNs);
    site.node(1).Freeze(true);
    const uint64_t before = worker.acknowledged();
    site.RunFor(hangs_ns);
    went_on = worker.acknowledged() - before;
    site.node(1).Freeze(false);
    ASSERT_TRUE(site.RunUntil([&] { return site.ended(); }, 600 * kSecondNs));
    EXPECT_TRUE(worker.result().error.ok()) << worker.result().error;
    std::set<uint64_t> all;
    for (size_t i = 0; i < site.nodes(); ++i) {
      const std::vector<uint64_t> blocks = site.node(i).Recorded(0);
      parts.emplace_back(blocks.begin(), blocks.end());
      EXPECT_EQ(parts.back().size(), blocks.size()) << "a block is twice in one part";
      all.insert(blocks.begin(), blocks.end());
    }
    EXPECT_EQ(all.size() + worker.lost().size(), blocks_);
  }

 private:
  const uint64_t blocks_;

 public:
  Site site;
  const ModelledWorker& worker = site.worker(0);
  uint64_t went_on = 0;  // acknowledged while the node hung
  std::vector<std::set<uint64_t>> parts;
};

TEST(HangingNodeTest, TheOthersHaveItsBlocksAfterASecond) {
  HangingNodeSim sim(3, {.blocks = 3000, .period_ns = 5 * kMillisecondNs});
  sim.Run(5 * kSecondNs);
  EXPECT_EQ(sim.worker.lost(), std::set<uint64_t>());
  EXPECT_GT(sim.went_on, 950u);
  EXPECT_GT(sim.worker.counts().again, 0u);
  EXPECT_THAT(sim.worker.notes(), Contains(services::Noted("PART_SILENT|part=2|parts=3|node=n1")));
  EXPECT_THAT(sim.worker.notes(), Contains(services::Noted("PART_ANSWERS|part=2|parts=3|node=n1")));
  EXPECT_THAT(sim.worker.notes(), Not(Contains(services::Noted("PART_LOST"))));
  EXPECT_GT(sim.parts[1].size(), 600u) << "it gets blocks when it answers again";
}

TEST(HangingNodeTest, OneThatIsLostInTheEndCostsNothingMore) {
  HangingNodeSim sim(3, {.blocks = 8000, .period_ns = 5 * kMillisecondNs});
  sim.Run(30 * kSecondNs);
  EXPECT_EQ(sim.worker.lost(), std::set<uint64_t>());
  EXPECT_THAT(sim.worker.notes(), Contains(services::Noted("PART_LOST|part=2|parts=3|node=n1")));
  EXPECT_THAT(sim.worker.notes(), Contains(services::Noted("PART_GOES_ON|part=2|parts=3|node=n1")));
}

TEST(HangingNodeTest, AMirrorGoesOnWithOneCopyAfterASecond) {
  HangingNodeSim sim(2, {.blocks = 1500, .period_ns = 10 * kMillisecondNs, .copies = 2});
  sim.Run(5 * kSecondNs);
  EXPECT_EQ(sim.worker.lost(), std::set<uint64_t>());
  EXPECT_GT(sim.went_on, 450u);
  EXPECT_THAT(sim.worker.notes(),
              Contains(AllOf(services::Noted("PART_SILENT|part=2|parts=2|node=n1"),
                             testing::Field(&services::Note::facts,
                                            Contains(testing::Key("degraded_from"))))));
  EXPECT_EQ(sim.parts[0].size(), 1500u);
  EXPECT_GE(sim.parts[1].size(), 1500 - sim.worker.counts().too_few);
  EXPECT_LT(sim.worker.counts().too_few, 600u);
  EXPECT_TRUE(sim.parts[1].contains(1499));
}

// Faster than a second of it has room: what is lost is what comes until the others have the blocks
// that the stream waits for, not all that comes until the session is lost.
TEST(HangingNodeTest, AFastStreamLosesLittle) {
  HangingNodeSim sim(3, {.blocks = 15'000, .period_ns = kMillisecondNs});
  sim.Run(5 * kSecondNs);
  EXPECT_GT(sim.went_on, 4500u);
  EXPECT_LT(sim.worker.lost().size(), 1000u);
}

}  // namespace
}  // namespace tapedeck::sim
