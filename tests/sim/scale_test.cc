// Rates of N workers and M storage nodes in virtual time, to 8 × 8: what one more adds, and what
// bounds it. scale.md says what this shows, and what not.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/sim/site_rates.h"

namespace tapedeck::sim {
namespace {

using dataplane::kMillisecondNs;

constexpr size_t kCounts[] = {1, 2, 4, 8};
constexpr int64_t kWarmNs = 60 * kMillisecondNs;
constexpr int64_t kMeasuredNs = 150 * kMillisecondNs;

struct Kind {
  const char* what;
  WorkerStream stream;
  DriveFigures drives;
  Turns turns = Turns::kByConnection;
};

Fill FillOf(const Kind& kind, size_t workers, size_t nodes) {
  const std::vector<DriveFigures> drives(nodes, kind.drives);
  Site site({.workers = std::vector<WorkerStream>(workers, kind.stream),
             .nodes = drives,
             .turns = kind.turns});
  EXPECT_TRUE(site.Begin()) << "not every part began";
  site.RunFor(kWarmNs);
  return Measure(site, drives, kMeasuredNs);
}

// What the model can carry at most.
double Bound(const Kind& kind, size_t workers, size_t nodes) {
  const double give = kind.stream.period_ns == 0
                          ? kPortsMbPerS
                          : std::min(kPortsMbPerS, OfferedMbPerS(kind.stream));
  return std::min(static_cast<double>(workers) * give,
                  static_cast<double>(nodes) * std::min(kPortsMbPerS, DrivesMbPerS(kind.drives)));
}

// Whatever is full, as measured.
std::string FullOnes(const Fill& fill) {
  constexpr double kFull = 0.95;
  std::string full;
  const auto add = [&](double part, const char* what) {
    if (part >= kFull) full += (full.empty() ? "" : ", ") + std::string(what);
  };
  add(fill.workers, "workers' ports");
  add(fill.nodes, "nodes' ports");
  add(fill.drives, "drives");
  return full;
}

// Linear until something is full: either what is offered arrives, or what bounds it is full.
void Table(const Kind& kind) {
  std::printf("| workers × nodes | MB/s | of what can be | full |\n|---|---:|---:|---|\n");
  for (const size_t workers : kCounts) {
    for (const size_t nodes : kCounts) {
      SCOPED_TRACE(testing::Message() << workers << " × " << nodes);
      const Fill fill = FillOf(kind, workers, nodes);
      const double bound = Bound(kind, workers, nodes);
      const std::string full = FullOnes(fill);
      std::printf("| %zu × %zu | %.0f | %.1f %% | %s |\n", workers, nodes, fill.mb_per_s,
                  100 * fill.mb_per_s / bound, full.empty() ? "nothing" : full.c_str());
      EXPECT_GE(fill.mb_per_s, 0.95 * bound);
      EXPECT_LE(fill.mb_per_s, 1.02 * bound) << "more than the model can carry";
      const bool all_offered =
          kind.stream.period_ns > 0 &&
          bound >= 0.999 * static_cast<double>(workers) * OfferedMbPerS(kind.stream);
      EXPECT_TRUE(all_offered || !full.empty()) << "nothing is full";
    }
  }
}

TEST(ScaleRates, AsFastAsPortsAndFastDrivesTakeIt) {
  Table({.what = "as fast as it goes", .drives = kFastDrives});
}

TEST(ScaleRates, AsFastAsSlowDrivesTakeIt) {
  Table({.what = "as fast as it goes", .drives = kSlowDrives});
}

// One port's worth of signal from each worker.
TEST(ScaleRates, OfferedRateIsTakenUntilSomethingIsFull) {
  Table({.what = "paced", .stream = {.period_ns = 350'000}, .drives = kSlowDrives});
}

// Ports that send in the order of arrival let nodes wait for others' blocks: what is lost then, and
// what a larger ring brings back.
TEST(ScaleRates, PortsThatSendInOrderOfArrivalCostSome) {
  std::printf("| slots | 8 × 8 MB/s | of what can be |\n|---|---:|---:|\n");
  double last = 0;
  for (const size_t slots : {128, 256}) {
    const Kind kind{.what = "in order",
                    .stream = {.slots = slots},
                    .drives = kFastDrives,
                    .turns = Turns::kAsItComes};
    const double part = FillOf(kind, 8, 8).mb_per_s / Bound(kind, 8, 8);
    std::printf("| %zu | %.0f | %.1f %% |\n", slots, part * Bound(kind, 8, 8), 100 * part);
    EXPECT_GT(part, std::max(0.85, last));
    last = part;
  }
}

}  // namespace
}  // namespace tapedeck::sim
