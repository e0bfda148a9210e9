// The policies of tiers. The mover carries out a channel's `move_to`, one recording at a time, the
// earliest due first. If a move fails, the log says so, a counter counts it, and the recording
// stays until a later try. The mover gives up a move that stands still in the same way, and the
// others go on.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage_node/moving/backoff.h"
#include "storage_node/moving/move.h"
#include "storage_node/moving/move_runner.h"

namespace tapedeck::storage_node::moving {

inline constexpr absl::Duration kMoverPeriod = absl::Milliseconds(500);

// Owned by the node. Any thread; Look waits for disks.
class Mover {
 public:
  // `resources` outlives it.
  Mover(admission::NodeResources& resources, absl::Duration patience, MakeChannel make_channel)
      : resources_(resources), make_channel_(std::move(make_channel)), runner_(patience) {}

  // One round: moves all whose time has come, until told to stop. A second one waits for it. Each
  // LUN that hangs delays it by `patience` once, and then nothing.
  void Look() ABSL_LOCKS_EXCLUDED(looking_);
  // Ends the round under way within a block, or `patience`; those after it do nothing. Destroying
  // it waits for the disks of what was given up.
  void AskToStop() { stop_ = true; }

  // What is moved just now, or was given up and waits for its disks.
  std::vector<std::string> under_way() const {
    absl::MutexLock lock(&mutex_);
    return {under_way_.begin(), under_way_.end()};
  }

  // By LUN: recordings whose time has come and that are not moved yet, as of the last round.
  std::map<std::string, uint64_t> waiting() const {
    absl::MutexLock lock(&mutex_);
    return waiting_;
  }

 private:
  struct Listed {
    std::string lun;
    services::Channel channel;  // as it was listed
  };
  struct Due {
    int64_t time_ns = 0;
    std::string recording;
    std::shared_ptr<const Listed> of;
  };
  // Recordings of a channel are listed every ten seconds, when what it is told has changed, and
  // when the machine's clock has stepped out of that time.
  struct Channel {
    int64_t listed_ns = 0;
    int64_t next_list_ns = 0;
    int64_t after_ns = 0;
    std::string to;
    uint64_t waiting = 0;
  };

  // In the order of their times.
  static void KeepEarliest(std::vector<Due>* due);
  void ListDue(std::vector<Due>* due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  void ListOfChannel(const std::string& lun, const services::Channel& channel,
                     std::vector<Due>* due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  void MoveOne(const Due& due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  absl::StatusOr<Moved> TryOne(const Due& due, const LunPair& pair,
                               const std::shared_ptr<luns::OpenLun>& lun)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  // On a thread of `runner_`.
  absl::StatusOr<Moved> MoveOn(const Due& due, luns::OpenLun& lun, const MoveRunner::GoOn& go_on);
  void OnFailed(const Due& due, luns::OpenLun& lun, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  void ShowWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  int64_t now_ns() const { return resources_.luns.clock().WallNs(); }
  int64_t steady_ns() const { return resources_.luns.clock().NowNs(); }

  admission::NodeResources& resources_;
  const MakeChannel make_channel_;
  std::atomic<bool> stop_ = false;
  absl::Mutex looking_;
  // By name; those that have a policy.
  std::map<std::string, Channel> channels_ ABSL_GUARDED_BY(looking_);
  Backoff backoff_ ABSL_GUARDED_BY(looking_);
  mutable absl::Mutex mutex_;
  std::map<std::string, uint64_t> waiting_ ABSL_GUARDED_BY(mutex_);
  std::multiset<std::string> under_way_ ABSL_GUARDED_BY(mutex_);
  MoveRunner runner_ ABSL_GUARDED_BY(looking_);  // goes first: its threads use the rest
};

}  // namespace tapedeck::storage_node::moving
