// What the two daemons' main functions share: the command line's options, session threads, the
// host's name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/executor/event_loop.h"
#include "services/base/faults.h"

namespace tapedeck::services {

// Session threads: one per core, at most four. A session needs a fraction of one.
absl::StatusOr<std::vector<std::unique_ptr<dataplane::EventLoop>>> MakeSessionLoops();

std::vector<dataplane::Executor*> AsExecutors(
    const std::vector<std::unique_ptr<dataplane::EventLoop>>& loops);

std::string HostName();

// From a stop request on: whatever then still waits, for a disk that hangs or a machine that is
// gone, must not keep the process. Ends it, with exit status 1, when one has lived for `limit`.
class StopLimit {
 public:
  explicit StopLimit(absl::Duration limit);
  ~StopLimit();

  // `left` names what is not done, for the log. Called on another thread, until the next SetLeft;
  // must not wait. Any thread.
  void SetLeft(std::function<std::string()> left) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Watch(absl::Duration limit);

  absl::Mutex mutex_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<std::string()> left_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

// Prints "PROGRAM: message" with its reason on stderr, of each; returns the exit status 1.
int FailedToStart(const std::string& program, const Faults& faults);

// The same of faults that were found before the start. Returns 2, after which nobody shall start
// it again, if the settings must change. Returns 1 if every fault may pass by itself: an address
// that comes later, a full or failing disk.
int RefusedToStart(const std::string& program, const Faults& faults);

}  // namespace tapedeck::services
