#include "storage_node/disk/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "absl/strings/str_split.h"

namespace tapedeck::storage_node::disk {
namespace {

constexpr mode_t kNewFile = 0640;

}  // namespace

Fd OpenBeneath(int directory, const std::string& path, int flags) {
  struct open_how how = {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? kNewFile : 0;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
  while (true) {
    const long fd = syscall(SYS_openat2, directory, path.c_str(), &how, sizeof(how));
    if (fd >= 0) return Fd(static_cast<int>(fd));
    if (errno == EINTR || errno == EAGAIN) continue;
    // Containers answer EPERM to what they forbid.
    if (errno != ENOSYS && errno != EPERM) return Fd();
    return OpenBeneathByParts(directory, path, flags);
  }
}

Fd OpenBeneathByParts(int directory, const std::string& path, int flags) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  Fd step;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty() || parts[i] == "..") {
      errno = EXDEV;
      return Fd();
    }
    const bool last = i + 1 == parts.size();
    const int how = last ? flags : O_PATH | O_DIRECTORY;
    const int from = i == 0 ? directory : step.get();
    Fd next(openat(from, parts[i].c_str(), how | O_NOFOLLOW | O_CLOEXEC, kNewFile));
    if (next.get() < 0 || last) return next;
    step = std::move(next);
  }
  return step;
}

}  // namespace tapedeck::storage_node::disk
