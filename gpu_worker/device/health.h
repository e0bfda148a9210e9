// Whether a device still works. After some errors nothing on it succeeds in this process any more:
// the first of them is remembered, and every job that comes later is refused with it.
#pragma once

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::gpu_worker::device {

// Owned by a device; outlives its queues. Any thread.
class Health {
 public:
  // `device` is its description.
  explicit Health(std::string device) : device_(std::move(device)) {}

  // Told of every error that the device gives. The first one with the reason DEVICE_FAILED is
  // logged and remembered. Returns that one in place of all that come later with this reason, and
  // any other as it is.
  absl::Status Note(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  template <typename T>
  absl::StatusOr<T> Note(absl::StatusOr<T> made) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (!made.ok()) return Note(std::move(made).status());
    return made;
  }

  // FAILED_PRECONDITION (DEVICE_FAILED), which says what failed first and what helps.
  absl::Status status() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const std::string device_;
  mutable absl::Mutex mutex_;
  absl::Status failed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::gpu_worker::device
