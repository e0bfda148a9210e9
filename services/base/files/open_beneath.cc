#include "services/base/files/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace tapedeck::services::files {
namespace {

// Whoever renames on the way, or has a lease on the file, must not keep the caller for ever.
constexpr int kMostTries = 32;

}  // namespace

dataplane::Fd OpenBeneath(int directory, const std::string& path, int flags, mode_t mode) {
  struct open_how how = {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (int i = 0; i < kMostTries; ++i) {
    const long fd = syscall(SYS_openat2, directory, path.c_str(), &how, sizeof(how));
    if (fd >= 0) return dataplane::Fd(static_cast<int>(fd));
    if (errno != EINTR && errno != EAGAIN) break;
  }
  return dataplane::Fd();
}

}  // namespace tapedeck::services::files
