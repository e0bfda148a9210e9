// Power off and on again: starts a node's storage as the node does, perhaps losing power once more
// on the way, and checks what is there against what the outside was told before.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "absl/status/statusor.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/store.h"
#include "tests/sim/disks/crash_states.h"
#include "tests/sim/luns/ledger.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::sim {

using OpenStore =
    std::function<absl::StatusOr<std::unique_ptr<storage_node::store::Store>>(FaultDisk&)>;

// What has happened; a test that has not seen each of them has not tested it.
struct Events {
  uint64_t durable_blocks = 0;  // acknowledged before a power cut
  uint64_t played_blocks = 0;
  uint64_t deletes_cut = 0;
  uint64_t deletes_cut_undone = 0;  // the recording was whole again
  uint64_t deletes_repeated = 0;
  uint64_t recoveries_cut = 0;
  uint64_t recoveries_cut_again = 0;  // two in a row
  uint64_t salvaged = 0;
  uint64_t kept = 0;          // recordings that are there after a cut
  uint64_t not_kept_yet = 0;  // of those being written: the disk had not been told

  void Add(const Events& more);
};

// One thread.
class Restart {
 public:
  // `operations`: about as many as a recovery takes.
  Restart(Moment moment, OpenStore open, uint64_t operations, CrashStates* states, uint64_t seed);

  // Fails the test if the outside was told something that is not so.
  void Run();

  const Events& events() const { return events_; }
  // The disk and what is known of it afterwards.
  Moment& moment() { return moment_; }

 private:
  void CutPower();
  // With power for so many operations. False if it went away.
  bool Start(uint64_t operations);
  absl::Status Recover();
  absl::Status Adopt(const storage_node::store::RecordingPath& path);
  // What was found agrees with the ledger, which then knows it.
  void Settle();
  void SettleOne(Take& take, const storage_node::format::Manifest* found);
  void SettleBlocks(Take& take, const storage_node::format::Manifest& found);
  void PlayAll();
  void DeleteAgain();

  Moment moment_;
  FaultDisk& disk_;
  const OpenStore open_;
  const uint64_t operations_;
  CrashStates& states_;
  std::mt19937_64 random_;
  const storage_node::ManualClock clock_;
  std::unique_ptr<storage_node::store::Store> store_;
  std::map<std::string, storage_node::format::Manifest> found_;
  Events events_;
};

}  // namespace tapedeck::sim
