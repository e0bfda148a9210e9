// What a daemon tells the systemd that started it: when it takes work, when it stops, and again and
// again that it lives. A sign of life is sent only if each executor has run a task since the last
// one: a process that stands still, as a whole or in one of its threads, falls silent, and systemd
// kills it and starts it again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "dataplane/executor/event_loop.h"
#include "services/base/trace/settings.h"

namespace tapedeck::services::supervisor {

// What systemd's environment variables say of the service that this process is. Read once, in the
// settings of a program.
struct Settings {
  std::string socket;  // where it listens: a path, or @NAME; empty: nobody supervises this process
  // It wants a sign of life at least so often; zero: it wants none.
  absl::Duration watchdog = absl::ZeroDuration();
};

// Of NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. INVALID_ARGUMENT (ARGUMENT_INVALID) names the
// variable and what is wrong.
absl::StatusOr<Settings> ReadSettings(const telemetry::trace::Environment& environment);

// Messages to systemd as sd_notify(3) defines them: lines of NAME=VALUE, one datagram each, to a
// Unix socket. That is all of the protocol, and stable; libsystemd for it would add four libraries
// to both programs. Any thread.
class NotifySocket {
 public:
  // `address` is a path or @NAME, as ReadSettings has checked it.
  static absl::StatusOr<std::unique_ptr<NotifySocket>> Create(std::string address);
  ~NotifySocket();

  // Waits a second at most, where the supervisor does not read. Errors start with the call.
  absl::Status Send(absl::string_view message);

 private:
  NotifySocket(int fd, std::string address) : fd_(fd), address_(std::move(address)) {}

  const int fd_;
  const std::string address_;
};

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
