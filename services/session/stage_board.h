// What both ends of a session have spent their time on, for the storage node, which keeps it with
// the recording.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "services/model/stage_time.h"

namespace tapedeck::services::session {

// Any thread. Shared by the session and what it records into.
class StageBoard {
 public:
  // By what writes blocks: how long it flushed.
  std::atomic<int64_t> flushing_ns = 0;

  // What that has spent, of a board that there may be.
  static std::function<StageTimes()> Stored(std::shared_ptr<StageBoard> board) {
    if (board == nullptr) return nullptr;
    return [board = std::move(board)] {
      return StageTimes{{"store.flush", "", board->flushing_ns}};
    };
  }

  // By the session, a few times a second and when all blocks have come.
  void Say(StageTimes times) {
    absl::MutexLock lock(&mutex_);
    latest_ = std::move(times);
  }
  StageTimes latest() const {
    absl::MutexLock lock(&mutex_);
    return latest_;
  }

 private:
  mutable absl::Mutex mutex_;
  StageTimes latest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services::session
