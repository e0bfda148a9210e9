// The power is cut at any operation of a LUN whose recordings make room for each other: what was
// acknowledged as durable is there, what was deleted stays away, and no recording ever gives
// another's bytes, though it lies where that one lay. On files, and on devices by the real block
// store.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/sim/fault_device.h"
#include "tests/sim/fault_store.h"
#include "tests/sim/restart.h"
#include "tests/sim/seeds.h"

namespace tapedeck::sim {
namespace {

constexpr uint64_t kLives = 3;  // each begins on what the last power cut left

struct Lun {
  std::string name;
  Room room;
  uint64_t seeds = 0;                // fewer need not show all that can happen
  uint64_t endings = 0;              // of each moment
  uint64_t distinct_per_seed = 0;    // at least
  uint64_t recovery_operations = 0;  // about
  uint64_t device_bytes = 0;         // 0: files
};

absl::StatusOr<std::unique_ptr<storage_node::store::Store>> MakeStore(const Lun& lun,
                                                                      FaultDisk& disk) {
  if (lun.device_bytes == 0) return MakeFaultStore(disk, lun.room.members);
  disk.devices.assign(lun.room.members, DiskImage(lun.device_bytes));
  return MakeBlockLun(disk);
}

OpenStore Opener(const Lun& lun) {
  if (lun.device_bytes > 0) return OpenBlockLun;
  return [members = lun.room.members](FaultDisk& disk) { return MakeFaultStore(disk, members); };
}

// Counts what happened in a run of it.
class RingPowerCut : public testing::TestWithParam<Lun> {
 protected:
  void RunSeed(uint64_t seed);
  // Returns the moment to go on from.
  Moment LiveAndCut(FaultDisk& disk, storage_node::store::Store& store, Ledger* ledger);
  Moment CutAt(const Moment& moment);
  void ExpectAllHappened() const;

  std::mt19937_64 random_;
  CrashStates states_;
  Events events_;
  Losses losses_;
  uint64_t reused_ = 0;
};

Moment RingPowerCut::CutAt(const Moment& moment) {
  SCOPED_TRACE("cut before \"" + moment.before + "\", operation " +
               std::to_string(moment.disk.operations));
  Moment last = moment;
  for (uint64_t ending = 0; ending < GetParam().endings && !HasFailure(); ++ending) {
    Restart restart(moment, Opener(GetParam()), GetParam().recovery_operations, &states_,
                    random_());
    restart.Run();
    events_.Add(restart.events());
    last = std::move(restart.moment());
    losses_.lost += last.disk.losses.lost - moment.disk.losses.lost;
    losses_.torn += last.disk.losses.torn - moment.disk.losses.torn;
  }
  return last;
}

Moment RingPowerCut::LiveAndCut(FaultDisk& disk, storage_node::store::Store& store,
                                Ledger* ledger) {
  const uint64_t reused = disk.reused;
  std::vector<Moment> moments =
      LunLife(disk, store, GetParam().room, ledger, random_()).Run(2 + random_() % 4);
  reused_ += disk.reused - reused;
  moments.push_back({.disk = disk, .ledger = *ledger, .before = "end"});
  const uint64_t chosen = random_() % moments.size();
  Moment next;
  for (uint64_t i = 0; i < moments.size() && !HasFailure(); ++i) {
    Moment after = CutAt(moments[i]);
    if (i == chosen) next = std::move(after);
  }
  return next;
}

void RingPowerCut::RunSeed(uint64_t seed) {
  random_.seed(seed);
  Moment now;
  now.disk.random.seed(seed);
  auto store = MakeStore(GetParam(), now.disk);
  ASSERT_TRUE(store.ok()) << store.status();
  for (uint64_t life = 0; life < kLives && !HasFailure(); ++life) {
    SCOPED_TRACE("life " + std::to_string(life));
    Moment next = LiveAndCut(now.disk, **store, &now.ledger);
    *store = nullptr;
    now = std::move(next);
    if (HasFailure()) return;
    store = Opener(GetParam())(now.disk);
    ASSERT_TRUE(store.ok()) << store.status();
  }
  *store = nullptr;
}

void RingPowerCut::ExpectAllHappened() const {
  EXPECT_GT(events_.durable_blocks, 0u);
  EXPECT_GT(events_.played_blocks, 0u);
  EXPECT_GT(events_.deletes_cut, 0u);
  EXPECT_GT(events_.deletes_cut_undone, 0u);
  EXPECT_GT(events_.deletes_repeated, 0u);
  EXPECT_GT(events_.recoveries_cut, 0u);
  EXPECT_GT(events_.recoveries_cut_again, 0u);
  EXPECT_GT(events_.salvaged, 0u);
  EXPECT_GT(losses_.lost, 0u);
  EXPECT_GT(losses_.torn, 0u);
  EXPECT_GT(reused_, 0u);
}

TEST_P(RingPowerCut, NothingDurableIsLostAndNothingDeletedComesBack) {
  const std::vector<uint64_t> seeds = Seeds(GetParam().seeds);
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE(HowToRepeat(seed));
    RunSeed(seed);
    if (HasFailure()) break;
  }
  if (!HasFailure() && seeds.size() >= GetParam().seeds) {
    ExpectAllHappened();
    EXPECT_GE(states_.distinct(), seeds.size() * GetParam().distinct_per_seed);
  }
  states_.Print();
  std::printf(
      "%lu blocks durable before the cuts, %lu played after; %lu writes lost, %lu torn; %lu "
      "deletions cut, %lu of them undone, %lu done again; %lu writes or files where others lay; "
      "%lu recordings salvaged; %lu recoveries cut, %lu twice in a row\n",
      events_.durable_blocks, events_.played_blocks, losses_.lost, losses_.torn,
      events_.deletes_cut, events_.deletes_cut_undone, events_.deletes_repeated, reused_,
      events_.salvaged, events_.recoveries_cut, events_.recoveries_cut_again);
}

Lun Files(uint32_t members, uint64_t seeds, uint64_t distinct_per_seed) {
  return {.name = "Files" + std::to_string(members),
          .room = {.members = members, .units = 9, .unit_bytes = 16 << 10, .block_bytes = {2048}},
          .seeds = seeds,
          .endings = 2,
          .distinct_per_seed = distinct_per_seed,
          .recovery_operations = 60};
}

Lun Devices(uint32_t members, uint64_t seeds, uint64_t distinct_per_seed) {
  return {.name = "Devices" + std::to_string(members),
          .room = {.members = members,
                   .units = 12,
                   .unit_bytes = 4 << 20,
                   .block_bytes = {4096, 4096, 4096, 4096, 4096, 512 << 10}},
          .seeds = seeds,
          .endings = 2,
          .distinct_per_seed = distinct_per_seed,
          .recovery_operations = 20,
          .device_bytes = 64 << 20};
}

// With power_cut_test more than 10,000 that are distinct.
INSTANTIATE_TEST_SUITE_P(Luns, RingPowerCut,
                         testing::Values(Files(1, 25, 70), Files(2, 25, 100), Devices(1, 8, 80),
                                         Devices(2, 4, 180)),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tapedeck::sim
