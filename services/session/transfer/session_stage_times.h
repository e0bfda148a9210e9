// What both ends of a session have spent their time on, for the storage node, which keeps it with
// the recording.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "services/model/words/stage_time.h"

namespace tapedeck::services::session {

// Any thread, but as said. Shared by the session and what it records into.
class SessionStageTimes {
 public:
  // By what writes blocks, of which there may be several at a time, as where a segment follows
  // another: a flush begins, and ends, by the steady clock. Time in which several are under way
  // counts once.
  void FlushBegan(int64_t now_ns) {
    absl::MutexLock lock(&mutex_);
    CountFlushing(now_ns);
    ++flushes_;
  }
  void FlushEnded(int64_t now_ns) {
    absl::MutexLock lock(&mutex_);
    CountFlushing(now_ns);
    --flushes_;
  }

  // What that has spent, of times that there may be.
  static std::function<StageTimes()> Stored(std::shared_ptr<SessionStageTimes> stage_times) {
    if (stage_times == nullptr) return nullptr;
    return [stage_times = std::move(stage_times)] {
      absl::MutexLock lock(&stage_times->mutex_);
      return StageTimes{{"store.flush", "", stage_times->flushing_ns_}};
    };
  }

  // By the session, on its executor: what tells the times until now. Null: it has gone.
  void SetAsk(std::function<StageTimes()> ask) { ask_ = std::move(ask); }
  // On the session's executor: a few times a second, and where a recording begins or ends, so that
  // one that lasts less has times of its own.
  void Refresh() {
    if (ask_ == nullptr) return;
    StageTimes times = ask_();
    absl::MutexLock lock(&mutex_);
    latest_ = std::move(times);
  }
  // Those of the last Refresh.
  StageTimes latest() const {
    absl::MutexLock lock(&mutex_);
    return latest_;
  }

 private:
  void CountFlushing(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (flushes_ > 0) flushing_ns_ += now_ns - counted_ns_;
    counted_ns_ = now_ns;
  }

  std::function<StageTimes()> ask_;  // may be null
  mutable absl::Mutex mutex_;
  StageTimes latest_ ABSL_GUARDED_BY(mutex_);
  int flushes_ ABSL_GUARDED_BY(mutex_) = 0;          // under way
  int64_t flushing_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // until counted_ns_
  int64_t counted_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tapedeck::services::session
