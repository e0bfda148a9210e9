// Log lines in logfmt on stderr: time, level, component, message, then key=value pairs.
//   Log(Level::kWarning, "transport/tcp", "connection refused", {{"rail", "r0"}, {"peer",
//   "127.0.0.1:7"}});
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

using LogField = std::pair<absl::string_view, std::string>;

// Any thread. One write(2) per line, so that lines of several threads do not mix.
void Log(LogLevel level, absl::string_view component, absl::string_view message,
         std::initializer_list<LogField> fields = {});

}  // namespace tapedeck::dataplane
