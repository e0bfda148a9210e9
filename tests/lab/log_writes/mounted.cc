#include "tests/lab/log_writes/mounted.h"

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace tapedeck::lab {
namespace {

// The kernel closes the files of an io_uring some time after their owner has.
constexpr int kTries = 5'000;

}  // namespace

absl::Status MountPrivately() {
  if (unshare(CLONE_NEWNS) == 0 &&
      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("unshare mounts: ", std::strerror(errno)));
}

absl::StatusOr<std::unique_ptr<Mounted>> Mounted::Create(const std::string& device,
                                                         const std::string& type,
                                                         const std::string& path) {
  const unsigned long flags = type.empty() ? MS_BIND : 0;
  // Copies of one xfs are mounted at the same time.
  const char* options = type == "xfs" ? "nouuid" : nullptr;
  if (mount(device.c_str(), path.c_str(), type.c_str(), flags, options) != 0) {
    return absl::InternalError(absl::StrCat("mount ", device, " at ", path, ", type '", type,
                                            "': ", std::strerror(errno)));
  }
  return std::unique_ptr<Mounted>(new Mounted(path));
}

Mounted::~Mounted() {
  for (int i = 0; i < kTries; ++i) {
    if (umount2(path_.c_str(), 0) == 0) return;
    if (errno != EBUSY) break;
    absl::SleepFor(absl::Milliseconds(1));
  }
  std::fprintf(stderr, "umount %s: %s\n", path_.c_str(), std::strerror(errno));
  std::abort();
}

}  // namespace tapedeck::lab
