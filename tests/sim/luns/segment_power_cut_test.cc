// The power is cut at any operation of a ring LUN into which streams are recorded in segments: what
// a stream was told to be durable lies in the right segment, none is missing between others, what a
// trigger has kept never gives way. On files, and on devices by the real device store.
#include <gtest/gtest.h>

#include "tests/sim/luns/lives.h"
#include "tests/sim/luns/stream_life.h"
#include "tests/sim/seeds.h"

namespace tapedeck::sim {
namespace {

class SegmentPowerCut : public testing::TestWithParam<SimLun> {};

TEST_P(SegmentPowerCut, NothingDurableIsLostAndNothingKeptGivesWay) {
  const SimLun& lun = GetParam();
  const std::vector<uint64_t> seeds = StateSeeds(lun.seeds);
  Fired fired;
  Lives lives(lun, [&](FaultDisk& disk, auto& store, Ledger* ledger, uint64_t seed) {
    return StreamLife(disk, store, lun.room, ledger, seed, &fired).Run(2 + seed % 3);
  });
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE(HowToRepeat(seed));
    lives.Run(seed);
    if (HasFailure()) break;
  }
  lives.Print();
  Print(fired);
  if (HasFailure() || seeds.size() < lun.seeds) return;
  lives.ExpectAllHappened(seeds.size());
  lives.ExpectKeptHappened();
  for (const char* what :
       {"EIO", "ENOSPC", "failed flush", "failed deletion", "segment that could not be made",
        "stream that ended whole", "stream that lost its peer", "stream that ended with STORE_IO",
        "stream that ended with LUN_FULL", "stream refused", "segment closed with holes",
        "block that came twice", "block without payload", "block held back",
        "block before an earlier segment was whole", "block dropped behind the last segment",
        "trigger", "kept segment released", "segment kept once it was closed"}) {
    EXPECT_GT(fired[what], 0u) << what;
  }
  if (lun.device_bytes == 0) return;
  EXPECT_GT(fired["short transfer"], 0u);
  EXPECT_GT(fired["interrupted transfer"], 0u);
}

SimLun Of(SimLun lun, uint64_t block_bytes, uint64_t seeds, uint64_t distinct_per_seed) {
  lun.room.operations_per_moment = 90;
  lun.room.block_bytes = {block_bytes};
  lun.seeds = seeds;
  lun.distinct_per_seed = distinct_per_seed;
  return lun;
}

INSTANTIATE_TEST_SUITE_P(Luns, SegmentPowerCut,
                         testing::Values(Of(FilesLun(1, 20), 2048, 14, 50),
                                         Of(FilesLun(2, 20), 2048, 18, 80),
                                         Of(DevicesLun(2, 16), 16 << 10, 8, 50)),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tapedeck::sim
