#include "tests/lab/log_writes/mounted.h"

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

absl::StatusOr<std::unique_ptr<Mounted>> Mounted::Create(const std::string& device,
                                                         const std::string& type,
                                                         const std::string& directory) {
  if (mount(device.c_str(), directory.c_str(), type.c_str(), 0, nullptr) != 0) {
    return absl::InternalError(
        absl::StrCat("mount ", device, " as ", type, ": ", std::strerror(errno)));
  }
  return std::unique_ptr<Mounted>(new Mounted(directory));
}

Mounted::~Mounted() {
  for (int i = 0; i < kTries; ++i) {
    if (umount2(directory_.c_str(), 0) == 0) return;
    if (errno != EBUSY) break;
    absl::SleepFor(absl::Milliseconds(1));
  }
  std::fprintf(stderr, "umount %s: %s\n", directory_.c_str(), std::strerror(errno));
  std::abort();
}

}  // namespace tapedeck::lab
