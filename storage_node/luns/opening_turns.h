// Turns to look into members that belong to no open LUN. Requests to attach LUNs take them, and so
// does the node when it tries offline LUNs again. Reading a device locks it, so each would find it
// in use by the other.
#pragma once

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/executor/timed_wait.h"

namespace tapedeck::storage_node::luns {

// Any thread. Outlives its turns.
class OpeningTurns {
 public:
  // Lasts as long as this.
  class Turn {
   public:
    ~Turn() { turns_.End(count_); }

   private:
    friend class OpeningTurns;
    Turn(OpeningTurns& turns, int& count) : turns_(turns), count_(count) {}
    OpeningTurns& turns_;
    int& count_;
  };

  // A disk that hangs under a LUN that is tried does not hold up the attaching of others for more.
  static constexpr absl::Duration kPatience = absl::Seconds(2);

  // No LUN is tried from now on; waits for those that are.
  std::unique_ptr<Turn> ForAttaching() {
    absl::MutexLock lock(&mutex_);
    ++attaching_;
    dataplane::AwaitFor(mutex_,
                        absl::Condition(
                            +[](int* tried) { return *tried == 0; }, &tried_),
                        kPatience);
    return std::unique_ptr<Turn>(new Turn(*this, attaching_));
  }

  // Null while a LUN is attached.
  std::unique_ptr<Turn> ForTrying() {
    absl::MutexLock lock(&mutex_);
    if (attaching_ > 0) return nullptr;
    ++tried_;
    return std::unique_ptr<Turn>(new Turn(*this, tried_));
  }

 private:
  void End(int& count) {
    absl::MutexLock lock(&mutex_);
    --count;
  }

  absl::Mutex mutex_;
  int attaching_ ABSL_GUARDED_BY(mutex_) = 0;
  int tried_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tapedeck::storage_node::luns
