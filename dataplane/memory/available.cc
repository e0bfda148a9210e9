#include "dataplane/memory/available.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/errors.h"

namespace tapedeck::dataplane {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// Where one version of control groups has its files. `caches` are keys of memory.stat.
struct Version {
  const char* mount;
  const char* limit;
  const char* used;
  std::array<const char*, 2> caches;
};

constexpr Version kFirst = {.mount = "/sys/fs/cgroup/memory",
                            .limit = "memory.limit_in_bytes",
                            .used = "memory.usage_in_bytes",
                            .caches = {"total_inactive_file", "total_active_file"}};
constexpr Version kSecond = {.mount = "/sys/fs/cgroup",
                             .limit = "memory.max",
                             .used = "memory.current",
                             .caches = {"inactive_file", "active_file"}};

// None where there is no such file, or no number in it ("max").
std::optional<uint64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  uint64_t number = 0;
  if (!(file >> text) || !absl::SimpleAtoi(text, &number)) return std::nullopt;
  return number;
}

// The numbers that follow `keys` in a file of keys and numbers, added up.
uint64_t SumOf(const std::string& path, const std::array<const char*, 2>& keys) {
  std::ifstream file(path);
  std::string key;
  uint64_t sum = 0;
  for (uint64_t value; file >> key >> value;) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) sum += value;
  }
  return sum;
}

uint64_t LeftInGroup(const std::string& group, const Version& version) {
  const std::optional<uint64_t> limit = ReadNumber(group + version.limit);
  const std::optional<uint64_t> used = ReadNumber(group + version.used);
  if (!limit.has_value() || !used.has_value()) return kUnlimited;
  const uint64_t cached = SumOf(group + "memory.stat", version.caches);
  const uint64_t taken = *used - std::min(*used, cached);
  return *limit - std::min(*limit, taken);
}

// In a container the path may be the host's, of which only the upper end exists here.
uint64_t LeftInGroups(const std::string& root, std::string path, const Version& version) {
  uint64_t left = kUnlimited;
  while (true) {
    const std::string group = absl::StrCat(root, version.mount, path, path == "/" ? "" : "/");
    left = std::min(left, LeftInGroup(group, version));
    if (path.size() <= 1) return left;
    path.resize(std::max<size_t>(path.rfind('/'), 1));
  }
}

uint64_t LeftInMachine(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string key, unit;
  for (uint64_t kib; file >> key >> kib; std::getline(file, unit)) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return kUnlimited;
}

}  // namespace

uint64_t AvailableBytes(const std::string& root) {
  uint64_t available = LeftInMachine(root);
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // hierarchy:controllers:/path
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() < 3 || !parts[2].starts_with('/')) continue;
    const bool second = parts[0] == "0";
    if (!second && parts[1] != "memory") continue;
    available = std::min(available, LeftInGroups(root, parts[2], second ? kSecond : kFirst));
  }
  return available;
}

absl::Status CheckAvailable(absl::string_view what, uint64_t bytes, absl::string_view option,
                            absl::string_view remedy) {
  const uint64_t available = AvailableBytes();
  if (bytes <= available && available - bytes >= kKeptFreeBytes) return absl::OkStatus();
  return LimitReached(
      available, option,
      absl::StrCat(what, ": needs ", bytes, " bytes, the machine (or this container) has ",
                   available, " available; ", remedy));
}

}  // namespace tapedeck::dataplane
