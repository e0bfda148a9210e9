// Whether the state directory takes what the node writes there.
#include <sys/statvfs.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "storage_node/doctor/checks.h"

namespace tapedeck::storage_node::doctor {
namespace {

// The catalog of some thousand recordings.
constexpr uint64_t kLittleBytes = 16 << 20;

}  // namespace

void CheckState(const std::string& state_dir, const absl::Status& health, Findings& findings) {
  const auto found = [&](absl::string_view what) {
    findings.push_back(Found("STATE_UNUSABLE", absl::StrCat(state_dir, ": ", what)));
  };
  if (!health.ok()) return found(health.message());
  if (const int error = TryDirectory(state_dir); error != 0) return found(std::strerror(error));
  struct statvfs disk {};
  if (statvfs(state_dir.c_str(), &disk) != 0) return;
  const uint64_t free = disk.f_bavail * disk.f_frsize;
  if (free >= kLittleBytes) return;
  findings.push_back(Found("STATE_NEARLY_FULL", absl::StrCat(state_dir, ": ", free >> 10,
                                                             " KiB are free on its file system")));
}

}  // namespace tapedeck::storage_node::doctor
