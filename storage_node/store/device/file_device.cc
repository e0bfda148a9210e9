#include "storage_node/store/device/file_device.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/disk/file_lock.h"
#include "storage_node/store/device/layout.h"
#include "storage_node/store/lost.h"

namespace tapedeck::storage_node::store::device {
namespace {

// What a node that has the device open wrote there.
std::string HolderOf(const std::string& path) {
  const disk::Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char line[256] = {};
  if (fd.get() < 0 || pread(fd.get(), line, sizeof(line) - 1, kHolderOffset) <= 0) return "";
  return line;
}

// O_EXCL refuses a device that is mounted, or part of a volume, or another node's.
absl::StatusOr<disk::Fd> OpenAlone(const std::string& path, bool device) {
  const int flags = O_RDWR | O_DIRECT | O_CLOEXEC | (device ? O_EXCL : 0);
  disk::Fd fd;
  int error = 0;
  disk::AwaitHolder([&] {
    fd = disk::Fd(open(path.c_str(), flags));
    error = fd.get() >= 0 ? 0 : errno;
    return error != EBUSY;
  });
  if (error == 0) return fd;
  if (error == EINVAL) return disk::Unusable(path, "its file system has no O_DIRECT");
  if (error != EBUSY) {
    return disk::Unusable(path, absl::StrCat("open: ", std::strerror(error)));
  }
  if (const std::string holder = HolderOf(path); !holder.empty() && holder.rfind("pid ", 0) == 0) {
    return disk::InUse(absl::StrCat("open ", path), holder, path);
  }
  return disk::Unusable(
      path,
      "open: in use: mounted, swap, or part of a RAID or LVM volume (see lsblk); use "
      "another device");
}

absl::StatusOr<uint64_t> SizeOf(const disk::Fd& fd, const std::string& path, bool device) {
  uint64_t bytes = 0;
  struct stat status;
  if (device) {
    if (ioctl(fd.get(), BLKGETSIZE64, &bytes) != 0) {
      return disk::IoError("ioctl BLKGETSIZE64", path, path, errno);
    }
  } else {
    if (fstat(fd.get(), &status) != 0) return disk::IoError("fstat", path, path, errno);
    bytes = static_cast<uint64_t>(status.st_size);
  }
  bytes = bytes / kPageBytes * kPageBytes;
  if (bytes >= kMinDeviceBytes) return bytes;
  return disk::Unusable(path, absl::StrCat("it has ", bytes, " bytes; a device LUN needs ",
                                           kMinDeviceBytes, " or more on each member"));
}

}  // namespace

absl::StatusOr<bool> IsBlockDevice(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    return disk::Unusable(path, absl::StrCat("stat: ", std::strerror(errno)),
                          absl::StatusCode::kNotFound);
  }
  if (S_ISBLK(status.st_mode)) return true;
  if (S_ISREG(status.st_mode)) return false;
  return disk::Unusable(
      path, "neither a block device nor a file; for a directory use another kind of store");
}

absl::StatusOr<std::unique_ptr<FileDevice>> FileDevice::Open(const std::string& path,
                                                             uint32_t number) {
  TD_ASSIGN_OR_RETURN(const bool device, IsBlockDevice(path));
  TD_ASSIGN_OR_RETURN(disk::Fd fd, OpenAlone(path, device));
  TD_ASSIGN_OR_RETURN(const bool locked, disk::LockFile(fd, path, path));
  if (!locked) {
    const std::string holder = HolderOf(path);
    return disk::InUse(absl::StrCat("flock ", path), holder.empty() ? "unknown" : holder, path);
  }
  TD_ASSIGN_OR_RETURN(const uint64_t bytes, SizeOf(fd, path, device));
  Threads threads;
  TD_ASSIGN_OR_RETURN(threads.engine, engine::MakeEngine(absl::StrCat("disk-", number)));
  TD_ASSIGN_OR_RETURN(threads.io, services::TaskThread::Create(absl::StrCat("disk-io-", number)));
  TD_ASSIGN_OR_RETURN(threads.sync,
                      services::TaskThread::Create(absl::StrCat("disk-sync-", number)));
  return std::unique_ptr<FileDevice>(
      new FileDevice(path, std::move(fd), bytes, std::move(threads)));
}

FileDevice::FileDevice(std::string path, disk::Fd fd, uint64_t bytes, Threads threads)
    : Device(std::move(path), bytes, fd.get()), fd_(std::move(fd)), threads_(std::move(threads)) {
  threads_.engine->AddFile(fd_.get());
}

FileDevice::~FileDevice() {
  threads_.io->Stop();
  threads_.sync->Stop();
}

absl::Status FileDevice::Read(std::span<std::byte> into, uint64_t offset) const {
  TD_ASSIGN_OR_RETURN(const size_t n, disk::ReadSome(fd_, into, offset, path(), path()));
  if (n == into.size()) return absl::OkStatus();
  return disk::StoreIo(path(), "pread",
                       absl::StrCat("pread ", path(), ": it ends at byte ", offset + n,
                                    ", before the end of the read"));
}

absl::Status FileDevice::Write(std::span<const std::byte> bytes, uint64_t offset) const {
  const absl::Status status = disk::WriteAll(fd_, bytes, offset, path(), path());
  if (!absl::IsResourceExhausted(status) || MeaningOf(ENOSPC) == ENOSPC) return status;
  return disk::IoError("pwrite", path(), path(), MeaningOf(ENOSPC));
}

// Only a file, or a device that is thinly provisioned, runs out of room.
int FileDevice::MeaningOf(int error) const {
  uint64_t now = 0;
  if (error != ENOSPC || ioctl(fd_.get(), BLKGETSIZE64, &now) != 0) return error;
  return now < bytes() ? ENXIO : error;
}

void FileDevice::Run(Thread thread, dataplane::Task work) {
  (thread == Thread::kIo ? threads_.io : threads_.sync)->Run(std::move(work));
}

// A device that was unplugged has no size any more, whoever still has it open.
absl::Status FileDevice::LookAtPath() const {
  struct stat open, named;
  if (fstat(fd_.get(), &open) != 0 || stat(path().c_str(), &named) != 0) {
    if (!disk::IsEndOfDisk(errno)) return absl::OkStatus();
    return MemberVanished(path(), absl::StrCat("it was removed or unplugged while in use (",
                                               std::strerror(errno), ")"));
  }
  const bool device = S_ISBLK(open.st_mode);
  const bool same = device ? S_ISBLK(named.st_mode) && open.st_rdev == named.st_rdev
                           : open.st_dev == named.st_dev && open.st_ino == named.st_ino;
  if (!same) return MemberVanished(path(), "another device or file took its place while in use");
  uint64_t now = static_cast<uint64_t>(open.st_size);
  if (device && ioctl(fd_.get(), BLKGETSIZE64, &now) != 0) now = 0;
  if (now >= bytes()) return absl::OkStatus();
  return MemberVanished(path(), absl::StrCat("it has ", now, " bytes and had ", bytes(),
                                             ": it was unplugged or cut while in use"));
}

absl::Status FileDevice::Sync() {
  if (fdatasync(fd_.get()) == 0) return absl::OkStatus();
  return disk::IoError("fdatasync", path(), path(), errno);
}

}  // namespace tapedeck::storage_node::store::device
