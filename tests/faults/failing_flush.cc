#include "tests/faults/failing_flush.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "absl/synchronization/mutex.h"

namespace {

absl::Mutex flush_mutex(absl::kConstInit);
int flush_to_fail = 0;
std::set<ino_t>& Flushed() {
  static auto* flushed = new std::set<ino_t>;
  return *flushed;
}
bool keeps_bytes = false;
std::map<ino_t, std::string>& KeptBytes() {
  static auto* bytes = new std::map<ino_t, std::string>;
  return *bytes;
}

// Through an opening of its own: that of a writer may not be for reading.
std::string ReadBytes(int fd) {
  std::string bytes;
  const int own = open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC);
  std::array<char, 65536> some;
  for (ssize_t n = 0; (n = read(own, some.data(), some.size())) > 0;) {
    bytes.append(some.data(), static_cast<size_t>(n));
  }
  close(own);
  return bytes;
}

// A file that is written to has room ahead, and is cut to its length before it is flushed last.
constexpr off_t kMostKeptBytes = 1 << 20;

void KeepBytes(int fd, const struct stat& file) {
  absl::MutexLock lock(&flush_mutex);
  KeptBytes().erase(file.st_ino);
  if (keeps_bytes && file.st_size <= kMostKeptBytes) KeptBytes()[file.st_ino] = ReadBytes(fd);
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

void KeepFlushedBytes() {
  absl::MutexLock lock(&flush_mutex);
  keeps_bytes = true;
  KeptBytes().clear();
}

std::optional<std::string> FlushedBytes(ino_t inode) {
  absl::MutexLock lock(&flush_mutex);
  const auto found = KeptBytes().find(inode);
  return found == KeptBytes().end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tapedeck::faults

extern "C" int fsync(int fd) {
  struct stat file {};
  const bool known = fstat(fd, &file) == 0;
  if (known && S_ISREG(file.st_mode)) KeepBytes(fd, file);
  if (!known || !S_ISDIR(file.st_mode)) return static_cast<int>(syscall(SYS_fsync, fd));
  absl::MutexLock lock(&flush_mutex);
  if (flush_to_fail > 0 && --flush_to_fail == 0) {
    errno = EIO;
    return -1;
  }
  Flushed().insert(file.st_ino);
  return 0;
}

extern "C" int fdatasync(int fd) {
  struct stat file {};
  if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode)) KeepBytes(fd, file);
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}
