// Ctrl-C as a call instead of a death.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace tapedeck::services::tapectl {

// Called before any thread is started, which then inherits the mask.
void BlockInterrupts();

// Calls `on_interrupt` on its own thread at the first SIGINT or SIGTERM; a second one kills the
// process. The destructor stops the thread, after `on_interrupt` if that runs.
class InterruptWatch {
 public:
  explicit InterruptWatch(std::function<void()> on_interrupt);
  ~InterruptWatch();

 private:
  void Run();

  const std::function<void()> on_interrupt_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace tapedeck::services::tapectl
