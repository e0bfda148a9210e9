// The policies of tiers: what a channel's `move_to` says of its recordings is done, one recording
// at a time, the one whose time came first before the others. What fails is told in the log,
// counted, and tried again later; the recording stays meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage_node/moving/backoff.h"
#include "storage_node/moving/move.h"

namespace tapedeck::storage_node::moving {

inline constexpr absl::Duration kMoverPeriod = absl::Milliseconds(500);

// Owned by the node. Any thread; Look waits for disks.
class Mover {
 public:
  // `means` outlives it.
  Mover(admission::Means& means, MakeChannel make_channel)
      : means_(means), make_channel_(std::move(make_channel)) {}

  // One round: moves all whose time has come, until told to stop. A second one waits for it.
  void Look() ABSL_LOCKS_EXCLUDED(looking_);
  // Ends the round under way within a block; those after it do nothing.
  void AskToStop() { stop_ = true; }

  // By LUN: recordings whose time has come and that are not moved yet, as of the last round.
  std::map<std::string, uint64_t> waiting() const {
    absl::MutexLock lock(&mutex_);
    return waiting_;
  }

 private:
  struct Due {
    int64_t time_ns = 0;
    std::string recording;
    std::string lun;
    services::Channel channel;
  };
  // Recordings of a channel are listed every ten seconds, or when what it is told has changed.
  struct Channel {
    int64_t next_list_ns = 0;
    int64_t after_ns = 0;
    std::string to;
    uint64_t waiting = 0;
  };

  void ListDue(std::vector<Due>* due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  void ListOfChannel(const std::string& lun, const services::Channel& channel,
                     std::vector<Due>* due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  void RemoveOrphansOf(catalog::ResourceName name, const services::Channel& channel)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  void MoveOne(const Due& due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  void OnFailed(const Due& due, luns::OpenLun& lun, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  void ShowWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  int64_t now_ns() const { return means_.luns.clock().WallNs(); }

  admission::Means& means_;
  const MakeChannel make_channel_;
  std::atomic<bool> stop_ = false;
  absl::Mutex looking_;
  // By name; those that have a policy.
  std::map<std::string, Channel> channels_ ABSL_GUARDED_BY(looking_);
  Backoff backoff_ ABSL_GUARDED_BY(looking_);
  mutable absl::Mutex mutex_;
  std::map<std::string, uint64_t> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::moving
