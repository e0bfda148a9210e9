// Rates of N workers and M storage nodes in virtual time, to 8 × 8: what one more adds, and what
// bounds it. scale.md says what this shows, and what not.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/sim/seeds.h"
#include "tests/sim/site/site_rates.h"

namespace tapedeck::sim {
namespace {

using dataplane::kMillisecondNs;

// Of either. More of them are no other code.
std::vector<size_t> Counts() {
  return FewStates() ? std::vector<size_t>{1, 2} : std::vector<size_t>{1, 2, 4, 8};
}

constexpr int64_t kWarmNs = 400 * kMillisecondNs;

// Blocks are acknowledged in groups: the fewer nodes, the longer it takes to see a rate.
int64_t MeasuredNs(size_t nodes) { return 3200 / static_cast<int64_t>(nodes) * kMillisecondNs; }

struct Kind {
  WorkerStream stream;
  DriveFigures drives;
};

Fill FillOf(const Kind& kind, size_t workers, size_t nodes) {
  const std::vector<DriveFigures> drives(nodes, kind.drives);
  Site site({.workers = std::vector<WorkerStream>(workers, kind.stream), .nodes = drives});
  EXPECT_TRUE(site.Begin()) << "not every part began";
  site.RunFor(kWarmNs);
  return Measure(site, drives, MeasuredNs(nodes));
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
  std::printf("| workers × nodes | MB/s | of the limit | full |\n|---|---:|---:|---|\n");
  for (const size_t workers : Counts()) {
    for (const size_t nodes : Counts()) {
      SCOPED_TRACE(testing::Message() << workers << " × " << nodes);
      const Fill fill = FillOf(kind, workers, nodes);
      const double bound = Bound(kind, workers, nodes);
      const std::string full = FullOnes(fill);
      std::printf("| %zu × %zu | %.0f | %.1f %% | %s |\n", workers, nodes, fill.mb_per_s,
                  100 * fill.mb_per_s / bound, full.empty() ? "nothing" : full.c_str());
      EXPECT_GE(fill.mb_per_s, 0.95 * bound);
      EXPECT_LE(fill.mb_per_s, 1.05 * bound) << "more than the model can carry";
      const bool all_offered =
          kind.stream.period_ns > 0 &&
          bound >= 0.999 * static_cast<double>(workers) * OfferedMbPerS(kind.stream);
      EXPECT_TRUE(all_offered || !full.empty()) << "nothing is full";
    }
  }
}

TEST(ScaleRates, AsFastAsPortsAndFastDrivesTakeIt) { Table({.drives = kFastDrives}); }

TEST(ScaleRates, AsFastAsSlowDrivesTakeIt) { Table({.drives = kSlowDrives}); }

// One port's worth of signal from each worker.
TEST(ScaleRates, OfferedRateIsTakenUntilSomethingIsFull) {
  Table({.stream = {.period_ns = 350'000}, .drives = kSlowDrives});
}

}  // namespace
}  // namespace tapedeck::sim
