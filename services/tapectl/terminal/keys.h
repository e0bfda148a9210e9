// The keys that a person presses while a command shows something again and again.
#pragma once

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tapedeck::services::tapectl {

// If stdin and stdout are a terminal, keys come at once and without an echo. The terminal gets its
// settings back when this ends, when SIGTSTP stops the process, and when a signal ends it. One in a
// process; used by one thread.
class Keys {
 public:
  Keys();
  ~Keys();
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  // Waits for `time`. False: q was pressed. If nobody waits then, for half a second, the process
  // ends with status 0: a call under way may last long.
  bool Wait(absl::Duration time) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Read() ABSL_LOCKS_EXCLUDED(mutex_);
  bool Ends() ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Mutex mutex_;
  bool quit_ ABSL_GUARDED_BY(mutex_) = false;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // none: stdin is no terminal
};

}  // namespace tapedeck::services::tapectl
