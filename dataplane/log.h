// Log lines in logfmt on stderr: time, level, component, message, then key=value pairs.
//   Log(Level::kWarning, "transport/tcp", "connection refused", {{"rail", "r0"}, {"peer",
//   "127.0.0.1:7"}});
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// "warning".
absl::string_view NameOf(LogLevel level);

using LogField = std::pair<absl::string_view, std::string>;

// What a peer may write into one field; the rest is counted in its stead.
inline constexpr size_t kMaxLogFieldBytes = 2048;

// Any thread. One write(2) per line, so that lines of several threads do not mix. Messages and
// values may come from anywhere: see LogValue. A line whose component and message come too often is
// counted instead, and the count written once the second is over and something is logged.
void Log(LogLevel level, absl::string_view component, absl::string_view message,
         std::initializer_list<LogField> fields = {});

// The same, never counted instead: for what must be found in the log each time, such as a deletion.
void LogEach(LogLevel level, absl::string_view component, absl::string_view message,
             std::initializer_list<LogField> fields = {});

// Lines of lower levels are not written from now on: for a program that people read on stderr.
// Until then all are. Any thread.
void SetLeastLogLevel(LogLevel level);

// Lines since the start: by level, and those that were counted instead of written. Any thread.
struct LogCounts {
  std::array<uint64_t, 4> lines = {};  // by LogLevel
  uint64_t left_out = 0;
};
LogCounts CountLogLines();

// A value as it stands in a line: in quotes where it needs them, with everything that is not
// printable UTF-8 escaped, and cut to kMaxLogFieldBytes with a mark that says how much is missing.
std::string LogValue(absl::string_view value);

}  // namespace tapedeck::dataplane
