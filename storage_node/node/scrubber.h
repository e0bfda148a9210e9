// Scrubs: read everything closed under a LUN or channel, slowly, beside what else goes on, and
// repair what has a second copy.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "services/scrub.h"
#include "storage_node/node/parts.h"

namespace tapedeck::storage_node {

// Any thread. Owned by the node; its end stops all scrubs. Each runs on a thread of its own. How
// far a scrub is lies in STATE/scrub, so that it goes on after a restart.
class Scrubber final : public services::ScrubControl {
 public:
  explicit Scrubber(NodeParts& parts);
  ~Scrubber() override;

  absl::StatusOr<services::Scrub> StartScrub(const services::ScrubStart& start) override;
  absl::StatusOr<services::Scrub> GetScrub(const std::string& parent) override;
  absl::StatusOr<services::Scrub> StopScrub(const std::string& parent) override;

 private:
  class Run;

  NodeParts& parts_;
  absl::Mutex repairing_;  // held by the scrub that rewrites part of an index
  absl::Mutex mutex_;
  std::map<std::string, std::unique_ptr<Run>> runs_ ABSL_GUARDED_BY(mutex_);  // by parent
};

}  // namespace tapedeck::storage_node
