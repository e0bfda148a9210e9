// Workers that begin a recording over several storage nodes of which some are not there. In virtual
// time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "dataplane/reason.h"
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

constexpr DriveFigures kDrivesOfLate{
    .drives = 2, .bytes_per_s = 1'000'000'000, .flush_ns = kMillisecondNs};
constexpr uint64_t kBlocks = 2000;

SiteFigures Figures(size_t nodes, uint32_t copies) {
  return {.workers = {{.blocks = kBlocks, .period_ns = kMillisecondNs, .copies = copies}},
          .nodes = std::vector<DriveFigures>(nodes, kDrivesOfLate)};
}

std::set<uint64_t> BlocksOf(Site& site, size_t node) {
  const std::vector<uint64_t> blocks = site.node(node).Recorded(0);
  return {blocks.begin(), blocks.end()};
}

bool RunToEnd(Site& site) {
  return site.RunUntil([&] { return site.ended(); }, 60 * kSecondNs);
}

TEST(LateNodeSim, ItTakesPartOnceItIsThere) {
  Site site(Figures(3, 1));
  site.node(1).Die(/*power_cut=*/false);
  site.Start();
  site.RunFor(500 * kMillisecondNs);
  const ModelledWorker& worker = site.worker(0);
  EXPECT_THAT(worker.notes(), Contains(services::Noted("PART_AWAY|part=2|parts=3|node=n1")));
  EXPECT_GT(worker.acknowledged(), 400u) << "the others wait for it";
  site.node(1).ComeBack();
  ASSERT_TRUE(RunToEnd(site));
  EXPECT_TRUE(worker.result().error.ok()) << worker.result().error;
  EXPECT_EQ(worker.lost(), std::set<uint64_t>());
  EXPECT_THAT(worker.notes(), Contains(services::Noted("PART_BEGINS|node=n1")));
  EXPECT_EQ(worker.result().counters.resumes, 0u);
  EXPECT_GT(BlocksOf(site, 1).size(), 100u);
  std::set<uint64_t> all;
  for (size_t i = 0; i < 3; ++i) all.merge(BlocksOf(site, i));
  EXPECT_EQ(all.size(), kBlocks);
}

TEST(LateNodeSim, AMirrorHasOneCopyUntilItIsThere) {
  Site site(Figures(2, 2));
  site.node(0).Die(/*power_cut=*/false);
  site.Start();
  site.RunFor(500 * kMillisecondNs);
  const ModelledWorker& worker = site.worker(0);
  EXPECT_THAT(worker.notes(),
              Contains(services::Noted("PART_AWAY|part=1|parts=2|node=n0|degraded_from=0")));
  site.node(0).ComeBack();
  ASSERT_TRUE(RunToEnd(site));
  EXPECT_TRUE(worker.result().error.ok()) << worker.result().error;
  EXPECT_EQ(worker.lost(), std::set<uint64_t>());
  EXPECT_EQ(BlocksOf(site, 1).size(), kBlocks);
  const std::set<uint64_t> late = BlocksOf(site, 0);
  EXPECT_EQ(late.size(), kBlocks - worker.counts().too_few);
  EXPECT_GT(late.size(), kBlocks / 4);
  EXPECT_EQ(*late.rbegin(), kBlocks - 1);
}

TEST(LateNodeSim, OneThatStaysAwayIsGivenUp) {
  SiteFigures figures = Figures(2, 1);
  figures.workers[0].blocks = 700;  // longer than it is tried
  figures.workers[0].period_ns = 100 * kMillisecondNs;
  Site site(figures);
  site.node(1).Die(/*power_cut=*/false);
  site.Start();
  ASSERT_TRUE(site.RunUntil([&] { return site.ended(); }, 600 * kSecondNs));
  EXPECT_TRUE(site.worker(0).result().error.ok()) << site.worker(0).result().error;
  EXPECT_THAT(site.worker(0).notes(), Contains(services::Noted("PART_GIVEN_UP|node=n1")));
  EXPECT_EQ(BlocksOf(site, 0).size(), figures.workers[0].blocks);
}

TEST(LateNodeSim, WithoutAnyItDoesNotBegin) {
  for (const uint32_t copies : {1, 2}) {
    Site site(Figures(2, copies));
    for (size_t i = 0; i < 2; ++i) site.node(i).Die(/*power_cut=*/false);
    site.Start();
    ASSERT_TRUE(RunToEnd(site));
    EXPECT_EQ(dataplane::ReasonOf(site.worker(0).result().error)->reason, "PEER_LOST");
    EXPECT_THAT(site.worker(0).notes(), Not(Contains(services::Noted("PART_GIVEN_UP"))));
  }
}

}  // namespace
}  // namespace tapedeck::sim
