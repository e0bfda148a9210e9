// Whether each member is there and takes data, tried with a file without a name, of which nothing
// stays.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "storage_node/disk/fd.h"
#include "storage_node/doctor/checks.h"
#include "storage_node/store/kind.h"

namespace tapedeck::storage_node::doctor {
namespace {

int TryMember(const std::string& member) {
  struct stat what {};
  if (stat(member.c_str(), &what) != 0) return errno;
  if (S_ISDIR(what.st_mode)) return TryDirectory(member);
  return access(member.c_str(), R_OK | W_OK) == 0 ? 0 : errno;
}

}  // namespace

int TryDirectory(const std::string& path) {
  const disk::Fd file(open(path.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.get() >= 0) return 0;
  if (errno != EOPNOTSUPP && errno != EISDIR) return errno;
  return access(path.c_str(), R_OK | W_OK | X_OK) == 0 ? 0 : errno;
}

void CheckMembers(const LunFacts& lun, Findings& findings) {
  if (!lun.offline.ok()) {
    findings.push_back(
        Found("LUN_OFFLINE", absl::StrCat(lun.config.name, ": ", lun.offline.message())));
  }
  for (const std::string& member : lun.config.members) {
    const int error = store::IsMemberPath(member) ? TryMember(member) : 0;
    if (error == 0) continue;
    const std::string what =
        absl::StrCat(lun.config.name, ": ", member, " refuses writes: ", std::strerror(error));
    findings.push_back(error == ENOSPC ? Found("LUN_FULL", what) : Found("MEMBER_UNUSABLE", what));
  }
}

}  // namespace tapedeck::storage_node::doctor
