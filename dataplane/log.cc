#include "dataplane/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/clock.h"
#include "dataplane/log_limit.h"
#include "dataplane/log_suffix.h"
#include "dataplane/printable.h"

namespace tapedeck::dataplane {
namespace {

constexpr absl::string_view kNames[] = {"debug", "info", "warning", "error"};

// Of the lines of this thread: see LogSuffix.
thread_local absl::string_view log_suffix;

// Room for the mark of a field that was cut.
constexpr size_t kMarkBytes = 48;

// What stands for the first character of `text`; `used` is set to its bytes.
std::string Escaped(absl::string_view text, size_t* used) {
  *used = PrintableBytes(text);
  if (*used == 0) {
    *used = 1;
    if (text[0] == '\n') return "\\n";
    return absl::StrFormat("\\x%02x", static_cast<uint8_t>(text[0]));
  }
  if (text[0] == '"' || text[0] == '\\') return {'\\', text[0]};
  return std::string(text.substr(0, *used));
}

// One per process, as stderr is.
struct Limiter {
  absl::Mutex mutex;
  LogLimit limit ABSL_GUARDED_BY(mutex);
  std::array<std::atomic<uint64_t>, std::size(kNames)> lines = {};
  std::atomic<uint64_t> left_out = 0;
  std::atomic<LogLevel> least = LogLevel::kDebug;

  bool Admit(absl::string_view component, absl::string_view message,
             std::vector<LogLimit::LeftOut>* left_out) {
    const int64_t now_ns = SystemClock().NowNs();
    absl::MutexLock lock(&mutex);
    *left_out = limit.TakeLeftOut(now_ns);
    return limit.Admit(component, message, now_ns);
  }
};

Limiter& TheLimiter() {
  // Never destroyed: threads may log until the very end.
  static auto& limiter = *new Limiter;
  return limiter;
}

void Write(LogLevel level, absl::string_view component, absl::string_view message,
           std::initializer_list<LogField> fields) {
  if (level < TheLimiter().least.load(std::memory_order_relaxed)) return;
  ++TheLimiter().lines[static_cast<size_t>(level)];
  std::string line = absl::StrCat(
      "ts=",
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixNanos(SystemClock().WallNs()),
                       absl::UTCTimeZone()),
      " level=", NameOf(level), " component=", component, " msg=", LogValue(message));
  for (const auto& [key, value] : fields) absl::StrAppend(&line, " ", key, "=", LogValue(value));
  absl::StrAppend(&line, log_suffix);
  line.push_back('\n');
  // Nothing can be done about a failed write to stderr.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

absl::string_view NameOf(LogLevel level) { return kNames[static_cast<size_t>(level)]; }

LogSuffix::LogSuffix(absl::string_view fields) : before_(std::exchange(log_suffix, fields)) {}

LogSuffix::~LogSuffix() { log_suffix = before_; }

absl::string_view LogSuffix::Current() { return log_suffix; }

void SetLeastLogLevel(LogLevel level) { TheLimiter().least = level; }

LogCounts CountLogLines() {
  const Limiter& limiter = TheLimiter();
  LogCounts counts{.left_out = limiter.left_out};
  std::ranges::copy(limiter.lines, counts.lines.begin());
  return counts;
}

std::string LogValue(absl::string_view value) {
  std::string out;
  bool quoted = value.empty() || value.find_first_of(" =") != absl::string_view::npos;
  for (size_t done = 0, used = 0; done < value.size(); done += used) {
    const std::string next = Escaped(value.substr(done), &used);
    if (out.size() + next.size() + kMarkBytes > kMaxLogFieldBytes) {
      absl::StrAppend(&out, "... (", value.size() - done, " bytes left out)");
      quoted = true;
      break;
    }
    quoted = quoted || next[0] == '\\';
    out += next;
  }
  return quoted ? absl::StrCat("\"", out, "\"") : out;
}

void Log(LogLevel level, absl::string_view component, absl::string_view message,
         std::initializer_list<LogField> fields) {
  std::vector<LogLimit::LeftOut> left_out;
  const bool admitted = TheLimiter().Admit(component, message, &left_out);
  for (const LogLimit::LeftOut& some : left_out) {
    Write(LogLevel::kWarning, some.component, "lines left out",
          {{"of", some.message.empty() ? "several messages" : some.message},
           {"lines", absl::StrCat(some.lines)}});
  }
  if (admitted) return Write(level, component, message, fields);
  ++TheLimiter().left_out;
}

void LogEach(LogLevel level, absl::string_view component, absl::string_view message,
             std::initializer_list<LogField> fields) {
  Write(level, component, message, fields);
}

}  // namespace tapedeck::dataplane
