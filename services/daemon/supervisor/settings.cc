#include "services/daemon/supervisor/settings.h"

#include <sys/un.h>
#include <unistd.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::services::supervisor {
namespace {

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

absl::StatusOr<Settings> ReadSettings(const telemetry::trace::Environment& environment) {
  Settings settings;
  TD_ASSIGN_OR_RETURN(settings.socket, ReadSocket(environment));
  TD_ASSIGN_OR_RETURN(settings.watchdog, ReadWatchdog(environment));
  return settings;
}

}  // namespace tapedeck::services::supervisor
