// A thread that opens memory of peers: the driver may take its time, which no poller has.
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

namespace tapedeck::dataplane::ipc {

// Connections of a rail that may wait for it; the driver has hung where more do.
inline constexpr size_t kMaxOpening = 64;

// Any thread.
class Opener {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<Opener>> Create(const std::string& rail);
  // Waits for the task under way; those behind it are dropped.
  ~Opener();

  // RESOURCE_EXHAUSTED (LIMIT_REACHED) with kMaxOpening before it.
  absl::Status Run(std::function<void()> task) ABSL_LOCKS_EXCLUDED(mutex_);

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
