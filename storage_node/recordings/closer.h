// Closes recordings that their sessions left open: a second later, on the queues of their LUNs, and
// again later if that fails.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tapedeck::storage_node::recordings {

class Recordings;

// Any thread. Held by shared_ptr: by whoever writes a recording, and by the queues.
class Closer : public std::enable_shared_from_this<Closer> {
 public:
  explicit Closer(Recordings& recordings) : recordings_(&recordings) {}

  // The recordings go; nothing is closed any more.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Nobody writes `recording` any more: the next round sees to it that it is closed.
  void Ended(const std::string& recording) ABSL_LOCKS_EXCLUDED(mutex_);
  // It could not be closed: the rounds try again.
  void Failed(const std::string& recording, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // One round: has the queues try those again that are due.
  void Look() ABSL_LOCKS_EXCLUDED(mutex_);

  // For who would show it: has it tried before its round if it was not yet, and waits for that;
  // false after `limit`.
  bool AwaitTried(const std::string& recording, absl::Duration limit) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Left {
    bool asked = false;  // a queue has it
    uint32_t failures = 0;
    absl::Time next = absl::InfinitePast();  // by the steady clock
  };

  // All of one LUN, as one task of its queue.
  void Ask(const std::string& lun, const std::vector<std::string>& recordings)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Try(const std::string& recording) ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Mutex mutex_;
  Recordings* recordings_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Left> left_ ABSL_GUARDED_BY(mutex_);
};

// Held by whoever writes a recording; says that it has ended when it goes. Any thread.
class Closing {
 public:
  Closing(std::shared_ptr<Closer> closer, std::string recording)
      : closer_(std::move(closer)), recording_(std::move(recording)) {}
  ~Closing() {
    if (!settled_) closer_->Ended(recording_);
  }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

  // It is closed in order, or as it was before, or gone.
  void Settle() { settled_ = true; }

 private:
  const std::shared_ptr<Closer> closer_;
  const std::string recording_;
  std::atomic<bool> settled_ = false;
};

}  // namespace tapedeck::storage_node::recordings
