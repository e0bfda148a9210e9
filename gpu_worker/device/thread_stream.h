// A stream on the host: what is enqueued runs in its order, on a thread of its own, as on a GPU's
// stream. For programs and tests on machines without one.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"

namespace tapedeck::gpu_worker::device {

// Any thread.
class ThreadStream {
 public:
  // What is called from time to time by work that waits: it gives up once this is false.
  using GoesOn = std::function<bool()>;
  using Work = std::function<void(const GoesOn&)>;

  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<ThreadStream>> Create();
  // Ends the work under way and drops what is behind it.
  ~ThreadStream();

  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where kMostWork steps wait already: to be asked before
  // something is enqueued that takes several.
  absl::Status CheckRoom() const ABSL_LOCKS_EXCLUDED(mutex_);
  // `work` is destroyed where it does not come to run.
  void Enqueue(Work work) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether all that was enqueued before is done by then.
  bool Synchronize(dataplane::Deadline deadline) ABSL_LOCKS_EXCLUDED(mutex_);

  static constexpr size_t kMostWork = 65536;

 private:
  ThreadStream() = default;
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !work_.empty(); }

  mutable absl::Mutex mutex_;
  std::deque<Work> work_ ABSL_GUARDED_BY(mutex_);
  uint64_t enqueued_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t done_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::gpu_worker::device
