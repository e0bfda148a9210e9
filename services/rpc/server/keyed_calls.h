// Unary handlers that wait for what belongs to one thing, such as a LUN: those of the same one wait
// for each other, those of another do not.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "services/base/threads/thread_pool.h"

namespace tapedeck::services::server {

// How many may wait. Each holds its request.
struct KeyedLimits {
  size_t of_a_key = 64;
  size_t of_all = 256;
  size_t of_a_caller = 256;  // those that run included
};

// Any thread. The destructor runs what is queued.
class KeyedCalls {
 public:
  // With a thread for each of so many keys that have calls; `name` of the threads (12 characters)
  // and `work`, in the plural, for whoever is refused.
  KeyedCalls(std::string name, std::string work, size_t threads, KeyedLimits limits = {})
      : limits_(limits), threads_(std::move(name), std::move(work), threads) {}

  // RESOURCE_EXHAUSTED (LIMIT_REACHED) while too many calls of this key or caller wait, or calls of
  // too many keys. Without a name nobody's calls are counted.
  absl::Status TryRun(const std::string& key, std::function<void()> call,
                      const std::string& caller = "") ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Waiting {
    std::function<void()> call;
    std::string caller;
  };

  absl::Status Refusal(const std::string& key, const std::string& caller) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs the calls of a key until there are none.
  void Work(const std::string& key);
  void Forget(const std::string& caller) ABSL_LOCKS_EXCLUDED(mutex_);

  const KeyedLimits limits_;
  absl::Mutex mutex_;
  // By key; one that is not here has no thread.
  std::map<std::string, std::deque<Waiting>> calls_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, size_t> of_callers_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // in calls_
  // Last: they end before what they use.
  ThreadPool threads_;
};

}  // namespace tapedeck::services::server
