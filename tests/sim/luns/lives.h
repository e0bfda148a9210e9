// Life after life on one LUN: each is cut at many moments, and the next begins on what one of the
// power cuts has left.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/sim/disks/crash_states.h"
#include "tests/sim/disks/losses.h"
#include "tests/sim/luns/restart.h"

namespace tapedeck::sim {

struct SimLun {
  std::string name;
  Room room;
  uint64_t seeds = 0;                // fewer need not show all that can happen
  uint64_t endings = 2;              // of each moment
  uint64_t distinct_per_seed = 0;    // at least
  uint64_t recovery_operations = 0;  // about
  uint64_t device_bytes = 0;         // 0: files
};

// Of 16 KiB units, and of as many as a device of the real device store has.
SimLun FilesLun(uint32_t members, uint64_t units);
SimLun DevicesLun(uint32_t members, uint64_t units);

// Counts what has happened in all of them. One thread.
class Lives {
 public:
  // Lives one life from this seed on; returns moments in it.
  using Live = std::function<std::vector<Moment>(FaultDisk&, storage_node::store::Store&, Ledger*,
                                                 uint64_t seed)>;

  Lives(SimLun lun, Live live) : lun_(std::move(lun)), live_(std::move(live)) {}

  // Fails the test if the outside was told something that is not so.
  void Run(uint64_t seed);
  // Of so many seeds.
  void ExpectAllHappened(uint64_t seeds) const;
  // Of lives in which recordings are kept.
  void ExpectKeptHappened() const { EXPECT_GT(events_.kept, 0u); }
  void Print() const;

 private:
  absl::StatusOr<std::unique_ptr<storage_node::store::Store>> Make(FaultDisk& disk) const;
  OpenStore Opener() const;
  // Return the moment to go on from.
  Moment LiveAndCut(FaultDisk& disk, storage_node::store::Store& store, Ledger* ledger);
  Moment CutAt(const Moment& moment);

  const SimLun lun_;
  const Live live_;
  std::mt19937_64 random_;
  CrashStates states_;
  Events events_;
  Losses losses_;
  uint64_t reused_ = 0;
};

}  // namespace tapedeck::sim
