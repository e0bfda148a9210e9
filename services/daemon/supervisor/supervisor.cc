#include "services/daemon/supervisor/supervisor.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::services::supervisor {

using dataplane::EventLoop;
using dataplane::Log;
using dataplane::LogLevel;

namespace {

// In the time that systemd allows between two signs of life. An executor that is slow once, or a
// message that is lost, must not end a recording.
constexpr int kTurns = 6;

// What systemd waits longer for than the process itself, which ends well or says what it leaves.
constexpr absl::Duration kStopMargin = absl::Seconds(6);

void Tell(NotifySocket& socket, absl::string_view message) {
  const absl::Status sent = socket.Send(message);
  if (sent.ok()) return;
  Log(LogLevel::kWarning, "supervisor", "not told",
      {{"message", std::string(message)}, {"error", std::string(sent.message())}});
}

constexpr timeval kSendLimit{.tv_sec = 1};

constexpr size_t kMaxSocketBytes = sizeof(sockaddr_un::sun_path) - 1;

// Less would be our own messages only, more is none at all.
constexpr absl::Duration kMinWatchdog = absl::Milliseconds(100);
constexpr absl::Duration kMaxWatchdog = absl::Hours(24);

absl::Status WrongVariable(const std::string& name, const std::string& why) {
  return ArgumentInvalid(name, absl::StrCat(name, ": ", why));
}

absl::StatusOr<std::string> ReadSocket(const telemetry::trace::Environment& environment) {
  std::string socket = environment("NOTIFY_SOCKET");
  if (socket.empty()) return socket;
  if (socket.size() > kMaxSocketBytes || (socket[0] != '/' && socket[0] != '@')) {
    return WrongVariable(
        "NOTIFY_SOCKET",
        absl::StrCat("expected an absolute path or @NAME of at most ", kMaxSocketBytes, " bytes"));
  }
  return socket;
}

absl::StatusOr<absl::Duration> ReadWatchdog(const telemetry::trace::Environment& environment) {
  const std::string text = environment("WATCHDOG_USEC");
  const std::string pid = environment("WATCHDOG_PID");
  // It may be meant for the process that started this one.
  if (text.empty() || (!pid.empty() && pid != absl::StrCat(getpid()))) return absl::ZeroDuration();
  int64_t microseconds = 0;
  if (!absl::SimpleAtoi(text, &microseconds) || absl::Microseconds(microseconds) < kMinWatchdog ||
      absl::Microseconds(microseconds) > kMaxWatchdog) {
    return WrongVariable("WATCHDOG_USEC", "expected microseconds, from 100 ms to 24 h");
  }
  return absl::Microseconds(microseconds);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Supervisor>> Supervisor::Create(
    const Settings& settings, const std::vector<std::vector<dataplane::Executor*>>& executors) {
  auto made = std::unique_ptr<Supervisor>(new Supervisor());
  if (settings.socket.empty()) return made;
  TD_ASSIGN_OR_RETURN(made->socket_, NotifySocket::Create(settings.socket));
  if (settings.watchdog == absl::ZeroDuration()) return made;
  made->turn_ns_ = absl::ToInt64Nanoseconds(settings.watchdog / kTurns);
  for (const std::vector<dataplane::Executor*>& of_a_kind : executors) {
    for (dataplane::Executor* executor : of_a_kind) {
      made->pulses_.push_back(
          {.executor = executor, .answered = std::make_shared<std::atomic<uint64_t>>(0)});
    }
  }
  TD_ASSIGN_OR_RETURN(made->watchdog_, EventLoop::Create("watchdog"));
  return made;
}

Supervisor::~Supervisor() = default;

void Supervisor::Ready() {
  if (socket_ == nullptr) return;
  Tell(*socket_, "READY=1");
  if (watchdog_ != nullptr) watchdog_->Post([this] { Turn(); });
}

void Supervisor::Stopping(absl::Duration grace) {
  if (socket_ == nullptr) return;
  Tell(*socket_, absl::StrCat("STOPPING=1\nEXTEND_TIMEOUT_USEC=",
                              absl::ToInt64Microseconds(grace + kStopMargin)));
}

void Supervisor::Turn() {
  if (AllMove()) Tell(*socket_, "WATCHDOG=1");
  Ask();
  watchdog_->PostAfter(turn_ns_, [this] { Turn(); });
}

bool Supervisor::AllMove() {
  size_t still = 0;
  for (const Pulse& pulse : pulses_) {
    if (*pulse.answered != pulse.asked) ++still;
  }
  const bool silent = still > 0;
  if (silent && !silent_) {
    Log(LogLevel::kWarning, "supervisor", "no sign of life: executors stand still",
        {{"still", absl::StrCat(still)}, {"executors", absl::StrCat(pulses_.size())}});
  }
  if (!silent && silent_) Log(LogLevel::kInfo, "supervisor", "all executors move again");
  silent_ = silent;
  return !silent;
}

// One question at a time waits in an executor's queue.
void Supervisor::Ask() {
  for (Pulse& pulse : pulses_) {
    if (*pulse.answered != pulse.asked) continue;
    ++pulse.asked;
    pulse.executor->Post([answered = pulse.answered, number = pulse.asked] { *answered = number; });
  }
}

absl::StatusOr<std::unique_ptr<NotifySocket>> NotifySocket::Create(std::string address) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::ErrnoToStatus(errno, "socket of the supervisor");
  auto made = std::unique_ptr<NotifySocket>(new NotifySocket(fd, std::move(address)));
  if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kSendLimit, sizeof(kSendLimit)) != 0) {
    return absl::ErrnoToStatus(errno, "setsockopt SO_SNDTIMEO");
  }
  return made;
}

NotifySocket::~NotifySocket() { close(fd_); }

absl::Status NotifySocket::Send(absl::string_view message) {
  sockaddr_un to{.sun_family = AF_UNIX};
  const size_t length = std::min(address_.size(), sizeof(to.sun_path) - 1);
  std::copy_n(address_.begin(), length, to.sun_path);
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';  // an abstract name
  const socklen_t bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  if (sendto(fd_, message.data(), message.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&to), bytes) < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("sendto ", address_));
  }
  return absl::OkStatus();
}

absl::StatusOr<Settings> ReadSettings(const telemetry::trace::Environment& environment) {
  Settings settings;
  TD_ASSIGN_OR_RETURN(settings.socket, ReadSocket(environment));
  TD_ASSIGN_OR_RETURN(settings.watchdog, ReadWatchdog(environment));
  return settings;
}

}  // namespace tapedeck::services::supervisor
