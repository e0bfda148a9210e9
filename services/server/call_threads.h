// Threads that run unary handlers. gRPC's own threads also carry the sessions' control streams and
// keepalive, so a handler that waits for a disk or for another machine must not hold one.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::services::server {

// Each holds its request. Fewer would refuse people who ask at the same moment.
inline constexpr size_t kMaxWaitingCalls = 256;

// Any thread may call Run and TryRun. The destructor runs what is queued, then joins.
class CallThreads {
 public:
  // Threads are made when they are first needed, `most` at most.
  explicit CallThreads(size_t most) : most_(most) {}
  ~CallThreads();

  // Waits in a queue while every thread has a call. RESOURCE_EXHAUSTED (LIMIT_REACHED) where
  // kMaxWaitingCalls wait already, or there is no thread at all and none can be made: `call` is
  // dropped then.
  absl::Status Run(std::function<void()> call) ABSL_LOCKS_EXCLUDED(mutex_);
  // The same where every thread has a call.
  absl::Status TryRun(std::function<void()> call) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Makes a thread for one more call if all have one.
  absl::Status MakeThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Work();

  const size_t most_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> calls_ ABSL_GUARDED_BY(mutex_);
  size_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services::server
