// Scrubs: they read everything closed under a LUN or channel, slowly, beside other work, and repair
// data that has a second copy.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/base/threads/thread_pool.h"
#include "services/model/seams/scrub.h"
#include "storage_node/recordings/recordings.h"
#include "storage_node/scrub/scrub_run.h"

namespace tapedeck::storage_node::scrub {

// Any thread. Owned by the node; its end stops all scrubs. Each runs on a thread of a pool. How far
// one is that has not read everything lies in STATE/scrub, so that it goes on after a restart.
class Scrubber final : public services::ScrubControl {
 public:
  Scrubber(recordings::Recordings& recordings, absl::Duration patience);
  // Waits for the disks of all.
  ~Scrubber() override;

  absl::StatusOr<services::Scrub> StartScrub(const services::ScrubStart& start) override;
  absl::StatusOr<services::Scrub> GetScrub(const std::string& parent) override;
  absl::StatusOr<services::Scrub> StopScrub(const std::string& parent) override;

  // To be called again and again: gives up those that have got on with nothing for `patience`. Does
  // not wait.
  void Look() ABSL_LOCKS_EXCLUDED(mutex_);

  // With those that were given up and whose disks have not answered.
  size_t running() const { return under_way().size(); }
  std::vector<std::string> under_way() const ABSL_LOCKS_EXCLUDED(mutex_);  // by parent

 private:
  std::shared_ptr<ScrubRun> Find(const std::string& parent) ABSL_LOCKS_EXCLUDED(mutex_);
  // Of those that have ended the last few are kept, for whoever asks how it went.
  void DropOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::shared_ptr<absl::Mutex> RepairingOf(const std::string& lun) ABSL_LOCKS_EXCLUDED(mutex_);

  recordings::Recordings& recordings_;
  const absl::Duration patience_;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<ScrubRun>> runs_ ABSL_GUARDED_BY(mutex_);  // by parent
  // By LUN: held by the scrub that rewrites part of an index. Runs have it.
  std::map<std::string, std::weak_ptr<absl::Mutex>> repairing_ ABSL_GUARDED_BY(mutex_);
  // Each keeps to its rate, and a disk to its own.
  services::ThreadPool threads_{"scrub", "scrubs", 8};
};

}  // namespace tapedeck::storage_node::scrub
