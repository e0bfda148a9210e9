#include "tests/storage_node/hanging_disk.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace {

std::atomic<bool> any_hangs = false;
absl::Mutex hanging_mutex(absl::kConstInit);
int hanging_calls = 0;
std::string& Beginning() {
  static auto* beginning = new std::string;
  return *beginning;
}

bool HangsAt(const std::string& file) {
  return !Beginning().empty() && absl::StartsWith(file, Beginning());
}

void WaitForDisk(int fd) {
  if (!any_hangs) return;
  std::array<char, 4096> text{};
  const std::string link = absl::StrCat("/proc/self/fd/", fd);
  const ssize_t bytes = readlink(link.c_str(), text.data(), text.size());
  const std::string file(text.data(), bytes > 0 ? static_cast<size_t>(bytes) : 0);
  absl::MutexLock lock(&hanging_mutex);
  ++hanging_calls;
  const auto answers = [&] { return !HangsAt(file); };
  hanging_mutex.Await(absl::Condition(&answers));
  --hanging_calls;
}

}  // namespace

namespace tapedeck::storage_node {

HangingDisk::HangingDisk(const std::string& path) {
  absl::MutexLock lock(&hanging_mutex);
  Beginning() = absl::StrCat(std::filesystem::canonical(path).string(),
                             std::filesystem::is_directory(path) ? "/" : "");
  any_hangs = true;
}

HangingDisk::~HangingDisk() {
  absl::MutexLock lock(&hanging_mutex);
  Beginning().clear();
  any_hangs = false;
}

int HangingDisk::calls() {
  absl::MutexLock lock(&hanging_mutex);
  return hanging_calls;
}

}  // namespace tapedeck::storage_node

extern "C" {

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  WaitForDisk(fd);
  return syscall(SYS_pwrite64, fd, bytes, count, offset);
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t offset) {
  return pwrite(fd, bytes, count, offset);
}
ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
  WaitForDisk(fd);
  return syscall(SYS_pread64, fd, bytes, count, offset);
}
ssize_t pread64(int fd, void* bytes, size_t count, off64_t offset) {
  return pread(fd, bytes, count, offset);
}
int fsync(int fd) {
  WaitForDisk(fd);
  return static_cast<int>(syscall(SYS_fsync, fd));
}
int fdatasync(int fd) {
  WaitForDisk(fd);
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

}  // extern "C"
