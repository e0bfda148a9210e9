#include "dataplane/log.h"

#include <unistd.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace tapedeck::dataplane {
namespace {

constexpr absl::string_view kNames[] = {"debug", "info", "warning", "error"};

std::string Quoted(absl::string_view value) {
  const bool plain = !value.empty() && value.find_first_of(" \"=\n") == absl::string_view::npos;
  return plain ? std::string(value) : absl::StrCat("\"", absl::CEscape(value), "\"");
}

}  // namespace

void Log(LogLevel level, absl::string_view component, absl::string_view message,
         std::initializer_list<LogField> fields) {
  std::string line = absl::StrCat(
      "ts=", absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()),
      " level=", kNames[static_cast<int>(level)], " component=", component,
      " msg=", Quoted(message));
  for (const auto& [key, value] : fields) absl::StrAppend(&line, " ", key, "=", Quoted(value));
  line.push_back('\n');
  // Nothing can be done about a failed write to stderr.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace tapedeck::dataplane
