#include "storage_node/doctor/disk_rate.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/disk/fd.h"

namespace tapedeck::storage_node::doctor {
namespace {

// Of one call: enough for every disk to have many requests at a time.
constexpr size_t kStepBytes = size_t{8} << 20;
constexpr size_t kMostSteps = 32;
constexpr absl::Duration kMostTime = absl::Seconds(2);
constexpr uint64_t kRoomKept = uint64_t{1} << 30;

// With a name until it is open. It is removed only if it is still the file that was made.
absl::StatusOr<disk::Fd> OpenNamed(const std::string& member) {
  uint64_t random = 0;
  [[maybe_unused]] const ssize_t got = getrandom(&random, sizeof(random), 0);
  const std::string path = absl::StrCat(member, "/.tapedeck-doctor-", absl::Hex(random));
  disk::Fd file(open(path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600));
  if (file.get() < 0) return disk::IoError("open", path, member, errno);
  struct stat made {
  }, named{};
  if (fstat(file.get(), &made) == 0 && lstat(path.c_str(), &named) == 0 &&
      made.st_ino == named.st_ino && made.st_dev == named.st_dev) {
    unlink(path.c_str());
  }
  return file;
}

absl::StatusOr<disk::Fd> OpenToWrite(const std::string& member) {
  struct statvfs space {};
  if (statvfs(member.c_str(), &space) != 0) return disk::IoError("statvfs", member, member, errno);
  if (space.f_bavail * space.f_frsize < kRoomKept) {
    return absl::ResourceExhaustedError(absl::StrCat(member, " has less than 1 GiB free"));
  }
  disk::Fd file(open(member.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.get() < 0 && errno != EOPNOTSUPP && errno != EISDIR) {
    return disk::IoError("open", member, member, errno);
  }
  if (file.get() < 0) {
    TD_ASSIGN_OR_RETURN(file, OpenNamed(member));
  }
  // Refused by file systems in memory.
  fcntl(file.get(), F_SETFL, O_DIRECT);
  return file;
}

absl::StatusOr<disk::Fd> OpenToRead(const std::string& member) {
  disk::Fd file(open(member.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (file.get() < 0) file = disk::Fd(open(member.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return disk::IoError("open", member, member, errno);
  return file;
}

}  // namespace

absl::StatusOr<double> MeasureRate(const std::string& member) {
  struct stat what {};
  if (stat(member.c_str(), &what) != 0) return disk::IoError("stat", member, member, errno);
  const bool write = S_ISDIR(what.st_mode);
  TD_ASSIGN_OR_RETURN(const disk::Fd file, write ? OpenToWrite(member) : OpenToRead(member));
  TD_ASSIGN_OR_RETURN(const auto memory, dataplane::host::Create(kStepBytes));
  std::byte* const bytes = memory->window().bytes.data();
  std::memset(bytes, 0x5a, kStepBytes);  // some disks do not write zeros
  const absl::Time begun = dataplane::SteadyTime();
  size_t moved = 0;
  for (size_t step = 0; step < kMostSteps && dataplane::SteadyTime() - begun < kMostTime; ++step) {
    const auto offset = static_cast<off_t>(moved);
    const ssize_t result = write ? pwrite(file.get(), bytes, kStepBytes, offset)
                                 : pread(file.get(), bytes, kStepBytes, offset);
    if (result < 0) return disk::IoError(write ? "pwrite" : "pread", member, member, errno);
    if (result == 0) break;
    moved += static_cast<size_t>(result);
  }
  if (write && fdatasync(file.get()) != 0) {
    return disk::IoError("fdatasync", member, member, errno);
  }
  return static_cast<double>(moved) / absl::ToDoubleSeconds(dataplane::SteadyTime() - begun);
}

}  // namespace tapedeck::storage_node::doctor
