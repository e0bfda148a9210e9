// What a daemon tells the systemd that started it: when it takes work, when it stops, and again and
// again that it lives. A sign of life is sent only if each executor has run a task since the last
// one: a process that stands still, as a whole or in one of its threads, falls silent, and systemd
// kills it and starts it again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "dataplane/executor/event_loop.h"
#include "services/daemon/supervisor/notify_socket.h"
#include "services/daemon/supervisor/settings.h"

namespace tapedeck::services::supervisor {

// Owned by main, on whose thread it is used; has a thread of its own where signs of life are
// wanted.
class Supervisor {
 public:
  // Does nothing where nobody supervises. The executors outlive it.
  static absl::StatusOr<std::unique_ptr<Supervisor>> Create(
      const Settings& settings, const std::vector<std::vector<dataplane::Executor*>>& executors);
  ~Supervisor();

  // The node takes work; signs of life begin.
  void Ready();

  // The node takes no more work and will have ended within `grace`, for which systemd waits even if
  // its unit says less; signs of life go on.
  void Stopping(absl::Duration grace);

 private:
  // Of an executor: which question it was asked last, and which it answered. A question may
  // outlive this.
  struct Pulse {
    dataplane::Executor* executor = nullptr;
    uint64_t asked = 0;
    std::shared_ptr<std::atomic<uint64_t>> answered;
  };

  Supervisor() = default;
  // On the thread of watchdog_.
  void Turn();
  bool AllMove();
  void Ask();

  std::unique_ptr<NotifySocket> socket_;  // null: nobody supervises
  int64_t turn_ns_ = 0;
  std::vector<Pulse> pulses_;
  bool silent_ = false;
  std::unique_ptr<dataplane::EventLoop> watchdog_;  // goes first: it uses the rest
};

}  // namespace tapedeck::services::supervisor
