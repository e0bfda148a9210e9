#include "storage_node/disk/beneath.h"

#include <fcntl.h>

#include <cerrno>
#include <vector>

#include "absl/strings/str_split.h"
#include "services/base/files/file_roots.h"

namespace tapedeck::storage_node::disk {
namespace {

constexpr mode_t kNewFile = 0640;

}  // namespace

Fd OpenBeneath(int directory, const std::string& path, int flags) {
  Fd fd = services::files::OpenBeneath(directory, path, flags, kNewFile);
  // Containers answer EPERM to what they forbid.
  if (fd.get() >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
  return OpenBeneathByParts(directory, path, flags);
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
