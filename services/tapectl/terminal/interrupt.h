// Ctrl-C as a call instead of a death, from when there is something to call.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::services::tapectl {

// Neither this thread nor one that it starts meanwhile takes Ctrl-C: for threads that are made
// before an InterruptWatch, which would end the process in its stead.
class NoInterrupts {
 public:
  NoInterrupts();
  ~NoInterrupts();
  NoInterrupts(const NoInterrupts&) = delete;
  NoInterrupts& operator=(const NoInterrupts&) = delete;

 private:
  sigset_t before_;
};

// Made before any other thread, which then inherits that the signals are blocked: this one's own
// thread takes them. Used by one thread.
class InterruptWatch {
 public:
  // SIGINT, SIGTERM or SIGHUP, unless that is ignored, ends the process at once, with this line on
  // stderr, until OnInterrupt.
  explicit InterruptWatch(std::string last_words);
  ~InterruptWatch();

  // From now on the first signal calls this, on the watch's thread; false ends the process. A
  // second signal kills it. Null: as at first. `stop`, if there is one, is called before: if it
  // answers true, the next signal is the first. Waits for a call under way.
  void OnInterrupt(std::function<bool()> call, std::function<bool()> stop = nullptr)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether somebody takes it; says the last words if nobody has asked for it.
  bool IsWanted() ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether what is under way stops. Once.
  bool Stops() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string last_words_;
  absl::Mutex mutex_;
  std::function<bool()> call_ ABSL_GUARDED_BY(mutex_);
  std::function<bool()> stop_call_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace tapedeck::services::tapectl
