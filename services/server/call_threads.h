// A few threads that run unary handlers. gRPC's own threads also carry the sessions' control
// streams and keepalive, so a handler that waits for a disk must not hold one.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::services::server {

// Any thread may call Run. The destructor runs what is queued, then joins.
class CallThreads {
 public:
  CallThreads();
  ~CallThreads();

  void Run(std::function<void()> call);

 private:
  void Work();

  absl::Mutex mutex_;
  std::deque<std::function<void()>> calls_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace tapedeck::services::server
