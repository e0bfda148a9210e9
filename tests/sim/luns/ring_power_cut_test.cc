// The power is cut at any operation of a LUN whose recordings make room for each other: what was
// acknowledged as durable is there, what was deleted stays away, and no recording ever gives
// another's bytes, though it lies where that one lay. On files, and on devices by the real block
// store.
#include <gtest/gtest.h>

#include "tests/sim/luns/lives.h"
#include "tests/sim/luns/lun_life.h"
#include "tests/sim/seeds.h"

namespace tapedeck::sim {
namespace {

class RingPowerCut : public testing::TestWithParam<SimLun> {};

TEST_P(RingPowerCut, NothingDurableIsLostAndNothingDeletedComesBack) {
  const SimLun& lun = GetParam();
  const std::vector<uint64_t> seeds = StateSeeds(lun.seeds);
  Lives lives(lun, [&](FaultDisk& disk, auto& store, Ledger* ledger, uint64_t seed) {
    return LunLife(disk, store, lun.room, ledger, seed).Run(2 + seed % 4);
  });
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE(HowToRepeat(seed));
    lives.Run(seed);
    if (HasFailure()) break;
  }
  if (!HasFailure() && seeds.size() >= lun.seeds) lives.ExpectAllHappened(seeds.size());
  lives.Print();
}

SimLun Files(uint32_t members, uint64_t seeds, uint64_t distinct_per_seed) {
  SimLun lun = FilesLun(members, 9);
  lun.seeds = seeds;
  lun.distinct_per_seed = distinct_per_seed;
  return lun;
}

SimLun Devices(uint32_t members, uint64_t seeds, uint64_t distinct_per_seed) {
  SimLun lun = DevicesLun(members, 12);
  lun.seeds = seeds;
  lun.distinct_per_seed = distinct_per_seed;
  return lun;
}

// With power_cut_test more than 10,000 that are distinct.
INSTANTIATE_TEST_SUITE_P(Luns, RingPowerCut,
                         testing::Values(Files(1, 25, 70), Files(2, 25, 100), Devices(1, 8, 80),
                                         Devices(2, 4, 180)),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tapedeck::sim
