#include "tests/faults/failing_flush.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "absl/synchronization/mutex.h"

namespace {

absl::Mutex flush_mutex(absl::kConstInit);
int flush_to_fail = 0;
std::set<ino_t>& Flushed() {
  static auto* flushed = new std::set<ino_t>;
  return *flushed;
}

}  // namespace

namespace tapedeck::faults {

void FailDirectoryFlush(int which) {
  absl::MutexLock lock(&flush_mutex);
  flush_to_fail = which;
}

std::set<ino_t> FlushedDirectories() {
  absl::MutexLock lock(&flush_mutex);
  return Flushed();
}

void ForgetFlushedDirectories() {
  absl::MutexLock lock(&flush_mutex);
  Flushed().clear();
}

}  // namespace tapedeck::faults

extern "C" int fsync(int fd) {
  struct stat file {};
  if (fstat(fd, &file) != 0 || !S_ISDIR(file.st_mode)) {
    return static_cast<int>(syscall(SYS_fsync, fd));
  }
  absl::MutexLock lock(&flush_mutex);
  if (flush_to_fail > 0 && --flush_to_fail == 0) {
    errno = EIO;
    return -1;
  }
  Flushed().insert(file.st_ino);
  return 0;
}
