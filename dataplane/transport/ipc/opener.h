// A thread that opens memory of peers and lets it go. The driver may take time for both, and a
// poller has none.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/memory/peer_copies.h"

namespace tapedeck::dataplane::ipc {

// Connections of a rail that may wait for it; the driver has hung where more do.
inline constexpr size_t kMaxOpening = 64;

// Any thread.
class Opener {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<Opener>> Create(const std::string& rail);
  ~Opener() { Stop(); }

  // RESOURCE_EXHAUSTED (LIMIT_REACHED) with kMaxOpening before it.
  absl::Status Run(std::function<void()> task) ABSL_LOCKS_EXCLUDED(mutex_);

  // Destroys it on the thread; once that has stopped, at once. Each was opened by a task of Run.
  void LetGo(std::shared_ptr<PeerPath> path) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits for the task under way; those behind it are dropped. Not on the thread itself.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Opener() = default;
  void Work() ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !tasks_.empty(); }

  absl::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::dataplane::ipc
