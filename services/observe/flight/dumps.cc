#include "services/observe/flight/dumps.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/clock.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/observe/flight/dump_file.h"
#include "services/observe/flight/rings_reader.h"

namespace tapedeck::services::flight {
namespace {

constexpr absl::string_view kSuffix = ".flight";

// Told of a directory, the newest by name.
constexpr ptrdiff_t kMaxNames = 256;

// Sorts by time: 20260131T120000.123456-s000001.flight
std::string FileName(const TrailInfo& trail) {
  std::string who = trail.session.empty() ? trail.job : trail.session;
  std::ranges::replace(who, '/', '-');
  const absl::Time now = absl::FromUnixNanos(dataplane::SystemClock().WallNs());
  return absl::StrCat(absl::FormatTime("%Y%m%dT%H%M%E6S", now, absl::UTCTimeZone()), "-", who,
                      kSuffix);
}

bool IsDumpName(absl::string_view name) {
  return absl::EndsWith(name, kSuffix) && !absl::StrContains(name, '/') &&
         !absl::StartsWith(name, ".");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Dumps>> Dumps::Create(DumpSettings settings,
                                                     const dataplane::flight::Rings& rings) {
  auto tasks = std::make_shared<TaskQueue>();
  TD_ASSIGN_OR_RETURN(auto thread, TaskThread::Create("flight-dumps", tasks));
  return std::unique_ptr<Dumps>(
      new Dumps(std::move(settings), rings, std::move(tasks), std::move(thread)));
}

std::string Dumps::Leave(const TrailInfo& trail, const absl::Status& cause) {
  if (!MayLeave()) return "";
  const std::string path = absl::StrCat(settings_.directory, "/", FileName(trail));
  tasks_->Post([this, path, trail, cause] { Write(path, trail, cause); });
  dataplane::Log(dataplane::LogLevel::kInfo, "flight",
                 "writing the last seconds before a failure to a dump",
                 {{"of", trail.session.empty() ? trail.job : trail.session}, {"dump", path}});
  return path;
}

bool Dumps::MayLeave() {
  absl::MutexLock lock(&mutex_);
  const RateLimit limit{.each_ns = settings_.pause_ns, .at_once = kMaxDumpsWaiting};
  return tasks_->waiting() < kMaxDumpsWaiting &&
         limiter_.Take(limit, dataplane::SystemClock().NowNs()) == 0;
}

void Dumps::Write(const std::string& path, const TrailInfo& trail,
                  const absl::Status& cause) const {
  const dataplane::SystemClock clock;
  TracePlace place{.until_ns = clock.NowNs()};
  place.since_ns = place.until_ns - kDumpNs;
  std::vector<std::string> parts;
  for (bool more = true; more && parts.size() < kMaxDumpPages;) {
    Trace trace;
    more = ReadRings(rings_, {trail.id}, &place, &trace.threads);
    if (parts.empty()) {
      trace.node = settings_.node;
      trace.role = settings_.role;
      trace.pid = getpid();
      trace.now_ns = clock.NowNs();
      trace.utc_ns = clock.WallNs();
      trace.trails = {trail};
      trace.cause = std::string(cause.message());
    }
    parts.push_back(settings_.codec.encode(trace));
  }
  absl::Status status;
  if (mkdir(settings_.directory.c_str(), 0750) != 0 && errno != EEXIST) {
    status = absl::InternalError(
        absl::StrCat("mkdir ", settings_.directory, ": ", std::strerror(errno)));
  }
  if (status.ok()) status = WriteDumpFile(path, parts);
  if (!status.ok()) {
    dataplane::Log(dataplane::LogLevel::kWarning, "flight", "no dump of a failed session",
                   {{"path", path}, {"error", std::string(status.message())}});
  }
  RemoveOldest();
}

void Dumps::RemoveOldest() const {
  const std::vector<std::string> names = Names();
  for (size_t i = 0; i + kMaxDumps < names.size(); ++i) {
    const std::string path = absl::StrCat(settings_.directory, "/", names[i]);
    if (!IsDumpFile(path) || unlink(path.c_str()) != 0) continue;
    dataplane::Log(dataplane::LogLevel::kInfo, "flight", "removed the oldest dump",
                   {{"path", path}});
  }
}

std::vector<std::string> Dumps::Names() const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(settings_.directory.c_str()),
                                                      closedir);
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory.get())) {
    if (IsDumpName(entry->d_name)) names.emplace_back(entry->d_name);
  }
  std::ranges::sort(names);
  // What others have put there is not ours to count.
  if (names.size() > kMaxNames) names.erase(names.begin(), names.end() - kMaxNames);
  return names;
}

absl::StatusOr<TracePage> Dumps::Read(const std::string& name,
                                      const std::string& page_token) const {
  uint64_t at = 0;
  if (!page_token.empty() && !absl::SimpleAtoi(page_token, &at)) {
    return ArgumentInvalid("page_token", "page_token is not from a response of this listing");
  }
  if (!IsDumpName(name)) {
    return ArgumentInvalid("dump", "dump is not the name of a dump on this node");
  }
  TD_ASSIGN_OR_RETURN(const DumpPart part,
                      ReadDumpPart(absl::StrCat(settings_.directory, "/", name), at));
  TracePage page;
  TD_ASSIGN_OR_RETURN(page.trace, settings_.codec.decode(part.bytes));
  if (part.next != 0) page.next_page_token = absl::StrCat(part.next);
  return page;
}

}  // namespace tapedeck::services::flight
