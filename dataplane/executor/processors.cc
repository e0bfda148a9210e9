#include "dataplane/executor/processors.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tapedeck::dataplane {
namespace {

// Empty where it cannot be read.
std::string ContentOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Both in microseconds; the quota is "max" or -1 where there is none.
std::optional<double> Share(const std::string& quota, const std::string& period) {
  double most = 0;
  double of = 0;
  if (!absl::SimpleAtod(quota, &most) || !absl::SimpleAtod(period, &of)) return std::nullopt;
  if (most <= 0 || of <= 0) return std::nullopt;
  return most / of;
}

std::optional<double> ShareOf(const std::filesystem::path& group) {
  const std::vector<std::string> both =
      absl::StrSplit(ContentOf(group / "cpu.max"), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  if (both.size() == 2) return Share(both[0], both[1]);
  return Share(ContentOf(group / "cpu.cfs_quota_us"), ContentOf(group / "cpu.cfs_period_us"));
}

// Of a group and all above it, up to `top`. A container sees its own group there, whatever it is
// called outside.
std::optional<double> LeastShare(const std::filesystem::path& top, const std::string& group) {
  std::optional<double> least;
  std::filesystem::path path = std::filesystem::path(group).relative_path();
  while (true) {
    const std::optional<double> share = ShareOf(top / path);
    if (share.has_value()) least = std::min(*share, least.value_or(*share));
    if (path.empty()) return least;
    path = path.parent_path();
  }
}

// Where the group of a line of /proc/PID/cgroup, "NUMBER:CONTROLLERS:PATH", is mounted, if it is
// one for processors. Version 2 has one hierarchy for all, without a name.
std::optional<std::string> MountOf(const std::string& controllers, const std::string& mount) {
  if (controllers.empty()) return mount;
  const std::vector<std::string> names = absl::StrSplit(controllers, ',');
  if (std::ranges::find(names, "cpu") == names.end()) return std::nullopt;
  return absl::StrCat(mount, "/", controllers);
}

}  // namespace

double QuotaOf(const std::string& memberships, const std::string& mount) {
  std::optional<double> least;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(memberships, '\n'))) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::optional<std::string> top = MountOf(parts[1], mount);
    if (!top.has_value()) continue;
    const std::optional<double> share = LeastShare(*top, parts[2]);
    if (share.has_value()) least = std::min(*share, least.value_or(*share));
  }
  return least.value_or(0);
}

unsigned UsableProcessors::threads() const { return std::max(1u, static_cast<unsigned>(count)); }

UsableProcessors FindUsableProcessors() {
  UsableProcessors usable;
  const long all = sysconf(_SC_NPROCESSORS_ONLN);
  if (all > 0) usable.count = static_cast<double>(all);
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) < usable.count) {
    usable = {.count = static_cast<double>(CPU_COUNT(&allowed)),
              .limit = ProcessorLimit::kAffinity};
  }
  const double quota = QuotaOf(ContentOf("/proc/self/cgroup"), "/sys/fs/cgroup");
  if (quota > 0 && quota < usable.count) {
    usable = {.count = quota, .limit = ProcessorLimit::kQuota};
  }
  return usable;
}

const UsableProcessors& ProcessorsAtStart() {
  static const UsableProcessors usable = FindUsableProcessors();
  return usable;
}

std::string TextOf(const UsableProcessors& usable) {
  switch (usable.limit) {
    case ProcessorLimit::kAffinity:
      return absl::StrCat(usable.count, " (affinity)");
    case ProcessorLimit::kQuota:
      return absl::StrCat(usable.count, " (quota)");
    case ProcessorLimit::kMachine:
      break;
  }
  return absl::StrCat(usable.count, " (machine)");
}

}  // namespace tapedeck::dataplane
