// Scrubs: read everything closed under a LUN or channel, slowly, beside what else goes on, and
// repair what has a second copy.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "services/scrub.h"
#include "services/threads/thread_pool.h"
#include "storage_node/recordings/recordings.h"
#include "storage_node/scrub/scrub_run.h"

namespace tapedeck::storage_node::scrub {

// Any thread. Owned by the node; its end stops all scrubs. Each runs on a thread of a pool. How far
// one is that has not read everything lies in STATE/scrub, so that it goes on after a restart.
class Scrubber final : public services::ScrubControl {
 public:
  explicit Scrubber(recordings::Recordings& recordings);
  ~Scrubber() override;

  absl::StatusOr<services::Scrub> StartScrub(const services::ScrubStart& start) override;
  absl::StatusOr<services::Scrub> GetScrub(const std::string& parent) override;
  absl::StatusOr<services::Scrub> StopScrub(const std::string& parent) override;

  size_t running() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  std::shared_ptr<ScrubRun> Find(const std::string& parent) ABSL_LOCKS_EXCLUDED(mutex_);
  // Of those that have ended the last few are kept, for whoever asks how it went.
  void DropOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  recordings::Recordings& recordings_;
  absl::Mutex repairing_;  // held by the scrub that rewrites part of an index
  mutable absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<ScrubRun>> runs_ ABSL_GUARDED_BY(mutex_);  // by parent
  // Each keeps to its rate, and a disk to its own.
  services::ThreadPool threads_{"scrub", "scrubs", 8};
};

}  // namespace tapedeck::storage_node::scrub
