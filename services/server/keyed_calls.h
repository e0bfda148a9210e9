// Unary handlers that wait for what belongs to one thing, such as a LUN: those of the same one wait
// for each other, those of another do not.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "services/threads/thread_pool.h"

namespace tapedeck::services::server {

// Any thread. The destructor runs what is queued.
class KeyedCalls {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) while too many calls of this key wait, or calls of too many
  // keys.
  absl::Status TryRun(const std::string& key, std::function<void()> call)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Runs the calls of a key until there are none.
  void Work(const std::string& key);

  absl::Mutex mutex_;
  // By key; one that is not here has no thread.
  std::map<std::string, std::deque<std::function<void()>>> calls_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // in calls_
  // Last: they end before what they use.
  ThreadPool threads_{"call", "calls for LUNs", 64};
};

}  // namespace tapedeck::services::server
