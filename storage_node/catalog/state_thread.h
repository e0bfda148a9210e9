// The thread that waits for the state directory. A disk that does not answer holds up this thread
// alone, and callers for a few seconds.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/executor/waiting.h"
#include "services/base/threads/task_thread.h"

namespace tapedeck::storage_node::catalog {

// A caller waits no longer. An operation on a disk that works takes milliseconds.
inline constexpr absl::Duration kStatePatience = absl::Seconds(3);

// Any thread, but the destructor not on its own.
class StateThread {
 public:
  // LIMIT_REACHED where there is no thread.
  static absl::StatusOr<std::unique_ptr<StateThread>> Create();
  // Waits for what is under way. If that hangs, the thread stays and ends when the disk answers.
  ~StateThread();

  // What `act` returns; it runs after all that was asked before. None if it has not ended within
  // kStatePatience, and at once while another one hangs. It may then end later, or never begin: it
  // owns all that it uses.
  template <typename T>
  std::optional<T> Ask(std::function<T()> act) {
    dataplane::MayWait("the catalog");
    if (shared_->hangs) return std::nullopt;
    const auto asked = std::make_shared<Asked<T>>();
    shared_->tasks->Post([asked, act = std::move(act), shared = shared_] {
      if (asked->Begins()) asked->Answer(act());
      shared->hangs = false;
    });
    return asked->Await(*shared_);
  }

 private:
  // Of the thread, which may outlive this.
  struct Shared {
    const std::shared_ptr<services::TaskQueue> tasks = std::make_shared<services::TaskQueue>();
    // Somebody has waited in vain for what is under way. The end of any act clears it.
    std::atomic<bool> hangs = false;
    absl::Notification ended;
  };

  template <typename T>
  class Asked {
   public:
    // False: nobody wants it any more.
    bool Begins() ABSL_LOCKS_EXCLUDED(mutex_) {
      absl::MutexLock lock(&mutex_);
      return !given_up_;
    }
    void Answer(T answer) ABSL_LOCKS_EXCLUDED(mutex_) {
      absl::MutexLock lock(&mutex_);
      answer_.emplace(std::move(answer));
    }
    std::optional<T> Await(Shared& shared) ABSL_LOCKS_EXCLUDED(mutex_) {
      const auto answered = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return answer_.has_value();
      };
      absl::MutexLock lock(&mutex_);
      // Under the lock, so that the act's end clears it afterwards.
      if (!dataplane::AwaitFor(mutex_, absl::Condition(&answered), kStatePatience)) {
        given_up_ = true;
        shared.hangs = true;
      }
      return std::move(answer_);
    }

   private:
    absl::Mutex mutex_;
    bool given_up_ ABSL_GUARDED_BY(mutex_) = false;
    std::optional<T> answer_ ABSL_GUARDED_BY(mutex_);
  };

  StateThread() = default;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::thread thread_;
};

}  // namespace tapedeck::storage_node::catalog
