#include "tests/sim/luns/lives.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/sim/disks/fault_device.h"
#include "tests/sim/disks/fault_store.h"

namespace tapedeck::sim {
namespace {

using storage_node::store::Store;
using testing::Test;

constexpr uint64_t kLives = 3;

}  // namespace

SimLun FilesLun(uint32_t members, uint64_t units) {
  return {
      .name = "Files" + std::to_string(members),
      .room = {.members = members, .units = units, .unit_bytes = 16 << 10, .block_bytes = {2048}},
      .recovery_operations = 60};
}

SimLun DevicesLun(uint32_t members, uint64_t units) {
  return {.name = "Devices" + std::to_string(members),
          .room = {.members = members,
                   .units = units,
                   .unit_bytes = 4 << 20,
                   .block_bytes = {4096, 4096, 4096, 4096, 4096, 512 << 10}},
          .recovery_operations = 20,
          .device_bytes = (units + 4) * (4 << 20)};
}

absl::StatusOr<std::unique_ptr<Store>> Lives::Make(FaultDisk& disk) const {
  if (lun_.device_bytes == 0) return MakeFaultStore(disk, lun_.room.members);
  disk.devices.assign(lun_.room.members, DiskImage(lun_.device_bytes));
  return MakeDeviceLun(disk);
}

OpenStore Lives::Opener() const {
  if (lun_.device_bytes > 0) return OpenDeviceLun;
  return [members = lun_.room.members](FaultDisk& disk) { return MakeFaultStore(disk, members); };
}

Moment Lives::CutAt(const Moment& moment) {
  SCOPED_TRACE("cut before \"" + moment.before + "\", operation " +
               std::to_string(moment.disk.operations));
  Moment last = moment;
  for (uint64_t ending = 0; ending < lun_.endings && !Test::HasFailure(); ++ending) {
    Restart restart(moment, Opener(), lun_.recovery_operations, &states_, random_());
    restart.Run();
    events_.Add(restart.events());
    last = std::move(restart.moment());
    losses_.lost += last.disk.losses.lost - moment.disk.losses.lost;
    losses_.torn += last.disk.losses.torn - moment.disk.losses.torn;
  }
  return last;
}

Moment Lives::LiveAndCut(FaultDisk& disk, Store& store, Ledger* ledger) {
  const uint64_t reused = disk.reused;
  std::vector<Moment> moments = live_(disk, store, ledger, random_());
  reused_ += disk.reused - reused;
  moments.push_back({.disk = disk, .ledger = *ledger, .before = "end"});
  const uint64_t chosen = random_() % moments.size();
  Moment next;
  for (uint64_t i = 0; i < moments.size() && !Test::HasFailure(); ++i) {
    Moment after = CutAt(moments[i]);
    if (i == chosen) next = std::move(after);
  }
  return next;
}

void Lives::Run(uint64_t seed) {
  random_.seed(seed);
  Moment now;
  now.disk.random.seed(seed);
  auto store = Make(now.disk);
  ASSERT_TRUE(store.ok()) << store.status();
  for (uint64_t life = 0; life < kLives && !Test::HasFailure(); ++life) {
    SCOPED_TRACE("life " + std::to_string(life));
    Moment next = LiveAndCut(now.disk, **store, &now.ledger);
    *store = nullptr;
    now = std::move(next);
    if (Test::HasFailure()) return;
    store = Opener()(now.disk);
    ASSERT_TRUE(store.ok()) << store.status();
  }
  *store = nullptr;
}

void Lives::ExpectAllHappened(uint64_t seeds) const {
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
  EXPECT_GE(states_.distinct(), seeds * lun_.distinct_per_seed);
}

void Lives::Print() const {
  states_.Print();
  std::printf(
      "%lu blocks durable before the cuts, %lu played after; %lu writes lost, %lu torn; %lu "
      "deletions cut, %lu of them undone, %lu done again; %lu writes or files where others lay; "
      "%lu recordings salvaged; %lu recoveries cut, %lu twice in a row; %lu kept ones there, %lu "
      "of those being written not kept yet\n",
      events_.durable_blocks, events_.played_blocks, losses_.lost, losses_.torn,
      events_.deletes_cut, events_.deletes_cut_undone, events_.deletes_repeated, reused_,
      events_.salvaged, events_.recoveries_cut, events_.recoveries_cut_again, events_.kept,
      events_.not_kept_yet);
}

}  // namespace tapedeck::sim
