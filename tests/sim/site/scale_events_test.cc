// What happens to the rates of a modelled site when channels differ, a node is slow, dies or comes
// back. In virtual time.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/sim/site/site_rates.h"

namespace tapedeck::sim {
namespace {

using dataplane::kMillisecondNs;
using dataplane::kSecondNs;

constexpr int64_t kSettleNs = 100 * kMillisecondNs;
constexpr int64_t kWindowNs = 200 * kMillisecondNs;

// One channel has ten times the blocks of the others: it alone goes on, and has all nodes.
TEST(ScaleSkew, AChannelWithTenTimesTheBlocksIsBoundByItsOwnPorts) {
  constexpr uint64_t kBlocks = 400;
  std::vector<WorkerStream> workers(4, {.blocks = kBlocks});
  workers[0].blocks = 10 * kBlocks;
  Site site({.workers = workers, .nodes = std::vector<DriveFigures>(4, kSlowDrives)});
  ASSERT_TRUE(site.Begin());
  ASSERT_TRUE(site.RunUntil([&] { return site.ended(); }, 60 * kSecondNs));
  for (size_t i = 0; i < workers.size(); ++i) {
    EXPECT_TRUE(site.worker(i).result().error.ok()) << site.worker(i).result().error;
    EXPECT_EQ(site.worker(i).acknowledged(), workers[i].blocks);
  }
  // While all run the drives are full, then the ports of the one.
  const double all = 4 * DrivesMbPerS(kSlowDrives);
  const double alike_s = 4 * kBlocks * kBlockMb / std::min(all, 4 * kPortsMbPerS);
  const double ideal_s = alike_s + 9 * kBlocks * kBlockMb / kPortsMbPerS;
  std::printf("%.3f s, at best %.3f s\n", site.seconds(), ideal_s);
  EXPECT_LE(site.seconds(), ideal_s / 0.95);
}

// A channel of more than one node's drives take, beside three of a tenth of it.
std::vector<WorkerStream> Skewed() {
  std::vector<WorkerStream> workers(4, {.period_ns = 1'800'000});
  workers[0].period_ns /= 10;
  return workers;
}

TEST(ScaleSkew, AChannelThatNoNodeCouldTakeIsSpreadOverAll) {
  const std::vector<DriveFigures> drives(4, kSlowDrives);
  Site site({.workers = Skewed(), .nodes = drives});
  ASSERT_GT(OfferedMbPerS(Skewed()[0]), DrivesMbPerS(kSlowDrives));
  ASSERT_TRUE(site.Begin());
  site.RunFor(kSettleNs);
  const Fill fill = Measure(site, drives, kWindowNs);
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  for (size_t i = 0; i < site.nodes(); ++i) {
    least = std::min(least, site.node(i).drives().written());
    most = std::max(most, site.node(i).drives().written());
  }
  for (size_t i = 0; i < site.workers(); ++i) EXPECT_EQ(site.worker(i).lost().size(), 0u) << i;
  std::printf("%.0f MB/s, the fullest node has %.2f times what the emptiest has\n", fill.mb_per_s,
              static_cast<double>(most) / static_cast<double>(least));
  EXPECT_LE(static_cast<double>(most), 2 * static_cast<double>(least));
}

TEST(ScaleSkew, WithANodeForEachChannelItLosesWhatItsNodeCannotTake) {
  std::vector<WorkerStream> workers = Skewed();
  for (size_t i = 0; i < workers.size(); ++i) workers[i].nodes = {i};
  const std::vector<DriveFigures> drives(4, kSlowDrives);
  Site site({.workers = workers, .nodes = drives});
  ASSERT_TRUE(site.Begin());
  site.RunFor(kSettleNs + kWindowNs);
  std::printf("lost: %zu blocks of the first channel\n", site.worker(0).lost().size());
  EXPECT_GT(site.worker(0).lost().size(), 0u);
  for (size_t i = 1; i < workers.size(); ++i) EXPECT_EQ(site.worker(i).lost().size(), 0u) << i;
}

TEST(ScaleNodes, ASlowOneCostsTheOthersLittle) {
  std::vector<DriveFigures> drives(4, kSlowDrives);
  drives[2].bytes_per_s /= 3;
  Site site({.workers = std::vector<WorkerStream>(2), .nodes = drives});
  ASSERT_TRUE(site.Begin());
  site.RunFor(400 * kMillisecondNs);
  const double rate = Measure(site, drives, kSecondNs).mb_per_s;
  double sum = 0;
  for (const DriveFigures& each : drives) sum += DrivesMbPerS(each);
  ASSERT_LE(sum, 2 * kPortsMbPerS);
  std::printf("%.0f MB/s of %.0f\n", rate, sum);
  EXPECT_GE(rate, 0.9 * sum);
}

// A node of four dies and comes back: what the other three can take goes on meanwhile.
TEST(ScaleNodes, ADeadOneTakesItsOwnShareOnlyAndBringsItBack) {
  const std::vector<DriveFigures> drives(4, kSlowDrives);
  Site site({.workers = std::vector<WorkerStream>(2), .nodes = drives});
  ASSERT_TRUE(site.Begin());
  site.RunFor(kSettleNs);
  const double four = std::min(2 * kPortsMbPerS, 4 * DrivesMbPerS(kSlowDrives));
  const double three = std::min(2 * kPortsMbPerS, 3 * DrivesMbPerS(kSlowDrives));
  const double before = Measure(site, drives, kWindowNs).mb_per_s;
  site.node(1).Die(/*power_cut=*/true);
  const double at_once = Measure(site, drives, kWindowNs / 2).mb_per_s;
  const double without = Measure(site, drives, 4 * kWindowNs).mb_per_s;
  site.node(1).ComeBack();
  site.RunFor(3 * kSecondNs);
  const double after = Measure(site, drives, kWindowNs).mb_per_s;
  std::printf("four: %.0f MB/s; in the 100 ms after a death: %.0f; three: %.0f; back: %.0f\n",
              before, at_once, without, after);
  EXPECT_GE(before, 0.95 * four);
  EXPECT_GE(at_once, 0.85 * three);
  EXPECT_GE(without, 0.9 * three);
  EXPECT_GE(after, 0.95 * four);
  for (size_t i = 0; i < site.workers(); ++i) {
    EXPECT_EQ(site.worker(i).notes().size(), 2u) << "it was lost, and went on";
  }
}

// With as much to spare as one node takes, sources that cannot wait lose nothing.
TEST(ScaleNodes, ADeathLosesNoBlockOfWhatTheOthersCanTake) {
  const std::vector<DriveFigures> drives(4, kSlowDrives);
  Site site({.workers = std::vector<WorkerStream>(2, {.period_ns = 220'000}), .nodes = drives});
  ASSERT_LT(2 * OfferedMbPerS({.period_ns = 220'000}), 3 * DrivesMbPerS(kSlowDrives));
  ASSERT_TRUE(site.Begin());
  site.RunFor(kSettleNs);
  site.node(3).Die(/*power_cut=*/false);
  site.RunFor(kSecondNs / 2);
  site.node(3).ComeBack();
  site.RunFor(2 * kSecondNs);
  uint64_t again = 0;
  for (size_t i = 0; i < site.workers(); ++i) {
    EXPECT_EQ(site.worker(i).lost().size(), 0u) << i;
    again += site.worker(i).counts().again;
  }
  std::printf("given to others: %llu blocks\n", static_cast<unsigned long long>(again));
  EXPECT_GT(again, 0u);
}

}  // namespace
}  // namespace tapedeck::sim
