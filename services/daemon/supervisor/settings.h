// What systemd's environment variables say of the service that this process is. Read once, in the
// settings of a program.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/base/trace/settings.h"

namespace tapedeck::services::supervisor {

struct Settings {
  std::string socket;  // where it listens: a path, or @NAME; empty: nobody supervises this process
  // It wants a sign of life at least so often; zero: it wants none.
  absl::Duration watchdog = absl::ZeroDuration();
};

// Of NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. INVALID_ARGUMENT (ARGUMENT_INVALID) names the
// variable and what is wrong.
absl::StatusOr<Settings> ReadSettings(const telemetry::trace::Environment& environment);

}  // namespace tapedeck::services::supervisor
