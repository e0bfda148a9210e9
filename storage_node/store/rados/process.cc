#include "storage_node/store/rados/process.h"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/printable.h"

namespace tapedeck::storage_node::store::rados {
namespace {

enum Word { kHost, kPid, kStart, kBoot, kSpace, kRandom, kWords };

// Field 22 of proc(5), in ticks since the machine's start; empty: there is no such process.
std::string StartOf(int64_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string stat = text.str();
  const size_t name_end = stat.rfind(')');  // names may hold blanks
  if (name_end == std::string::npos || name_end + 2 > stat.size()) return "";
  const std::vector<std::string> fields = absl::StrSplit(stat.substr(name_end + 2), ' ');
  constexpr size_t kStartField = 22 - 3;
  return fields.size() > kStartField ? fields[kStartField] : "";
}

std::string BootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

std::string PidSpace() {
  std::array<char, 128> text{};
  const ssize_t n = readlink("/proc/self/ns/pid", text.data(), text.size() - 1);
  return n > 0 ? std::string(text.data(), static_cast<size_t>(n)) : "unknown";
}

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  return host[0] == '\0' ? "unknown" : host.data();
}

}  // namespace

std::string ProcessCookie() {
  uint64_t random = 0;
  // Up to 256 bytes come whole once the system has booted: getrandom(2).
  [[maybe_unused]] const ssize_t got = getrandom(&random, sizeof(random), 0);
  return absl::StrCat(HostName(), " ", getpid(), " ", StartOf(getpid()), " ", BootId(), " ",
                      PidSpace(), " ", absl::Hex(random, absl::kZeroPad16));
}

bool IsOfDeadProcess(absl::string_view cookie) {
  const std::vector<std::string> words = absl::StrSplit(cookie, ' ');
  int64_t pid = 0;
  if (words.size() != kWords || words[kBoot] != BootId() || words[kSpace] != PidSpace() ||
      words[kBoot].empty() || words[kStart].empty() || !absl::SimpleAtoi(words[kPid], &pid)) {
    return false;
  }
  return StartOf(pid) != words[kStart];
}

std::string DescribeProcess(absl::string_view cookie) {
  const std::vector<std::string> words = absl::StrSplit(cookie, ' ');
  if (words.size() != kWords)
    return absl::StrCat("'", dataplane::Printable(std::string(cookie)), "'");
  return dataplane::Printable(absl::StrCat("pid ", words[kPid], " on host ", words[kHost]));
}

}  // namespace tapedeck::storage_node::store::rados
