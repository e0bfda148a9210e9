#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "services/observe/telemetry/node_page.h"
#include "services/observe/telemetry/small_file.h"

namespace tapedeck::services::telemetry {
namespace {

// So many are counted: a process with more has other worries.
constexpr size_t kMostFds = 65536;

// Of /proc/self/stat, counted from the one after the name: proc(5) counts that as 3.
enum StatField : size_t {
  kUserTicks = 11,
  kSystemTicks = 12,
  kThreads = 17,
  kStart = 19,
  kRss = 21
};

double TicksPerSecond() { return static_cast<double>(sysconf(_SC_CLK_TCK)); }

std::vector<double> StatOf(const std::string& proc) {
  const std::string stat = ReadSmallFile(proc + "/self/stat").value_or("");
  std::vector<double> fields;
  // A name may have blanks and brackets.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return fields;
  for (const absl::string_view word : absl::StrSplit(absl::string_view(stat).substr(name_end + 1),
                                                     absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    double number = 0;
    fields.push_back(absl::SimpleAtod(word, &number) ? number : 0);
  }
  return fields;
}

}  // namespace

double ProcessStart(const std::string& proc, double now) {
  const std::vector<double> stat = StatOf(proc);
  const std::string uptime = ReadSmallFile(proc + "/uptime").value_or("");
  double since_boot = 0;
  if (stat.size() <= kStart || !absl::SimpleAtod(uptime.substr(0, uptime.find(' ')), &since_boot)) {
    return now;
  }
  return now - since_boot + stat[kStart] / TicksPerSecond();
}

void AddProcess(Page& page, const std::string& proc) {
  const double ticks = TicksPerSecond();
  const std::vector<double> stat = StatOf(proc);
  if (stat.size() > kRss) {
    page.Add("process_cpu_seconds_total", (stat[kUserTicks] + stat[kSystemTicks]) / ticks);
    page.Add("process_resident_memory_bytes",
             stat[kRss] * static_cast<double>(sysconf(_SC_PAGESIZE)));
    page.Add("process_threads", stat[kThreads]);
  }
  page.Add("process_open_fds", NamesIn(proc + "/self/fd", kMostFds).size());
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) page.Add("process_max_fds", files.rlim_cur);
}

}  // namespace tapedeck::services::telemetry
