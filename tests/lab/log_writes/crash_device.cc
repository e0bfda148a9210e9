#include "tests/lab/log_writes/crash_device.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"

namespace tapedeck::lab {
namespace {

constexpr uint64_t kCompareBytes = 16 << 10;

absl::StatusOr<std::span<std::byte>> Map(size_t bytes, int flags, int fd) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (memory == MAP_FAILED) return absl::InternalError(absl::StrCat("mmap of ", bytes, " bytes"));
  return std::span<std::byte>(static_cast<std::byte*>(memory), bytes);
}

void Put(std::span<std::byte> onto, const LogEntry& entry, uint64_t bytes) {
  if (entry.discard) {
    std::memset(&onto[entry.offset], 0, bytes);
  } else if (bytes > 0) {
    std::memcpy(&onto[entry.offset], entry.data, bytes);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<CrashDevice>> CrashDevice::Create(const std::string& image,
                                                                 const std::string& device) {
  TD_ASSIGN_OR_RETURN(auto fd, storage_node::disk::Open(image, O_RDWR, image));
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return absl::InternalError(absl::StrCat("fstat ", image));
  const auto bytes = static_cast<size_t>(status.st_size);
  TD_ASSIGN_OR_RETURN(const auto shared, Map(bytes, MAP_SHARED, fd.get()));
  TD_ASSIGN_OR_RETURN(const auto medium,
                      Map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  return std::unique_ptr<CrashDevice>(new CrashDevice(std::move(fd), device, shared, medium));
}

CrashDevice::~CrashDevice() {
  munmap(image_.data(), image_.size());
  munmap(medium_.data(), medium_.size());
}

absl::Status CrashDevice::Check(const LogEntry& entry) const {
  if (entry.bytes <= medium_.size() && entry.offset <= medium_.size() - entry.bytes) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("the log writes ", entry.bytes, " bytes at ",
                                          entry.offset, ", beyond the end of the image"));
}

absl::Status CrashDevice::Apply(const LogEntry& entry) {
  TD_RETURN_IF_ERROR(Check(entry));
  if (entry.bytes == 0) return absl::OkStatus();
  Put(medium_, entry, entry.bytes);
  applied_.emplace_back(entry.offset, entry.bytes);
  return absl::OkStatus();
}

absl::Status CrashDevice::CutPower(std::span<const Write> unforced) {
  RestoreImage();
  for (const Write& write : unforced) {
    TD_RETURN_IF_ERROR(Check(*write.entry));
    Put(image_, *write.entry, write.bytes);
  }
  return DropPages();
}

// Outside its data ranges the image is zeros, as the medium is there.
void CrashDevice::RestoreImage() {
  for (const auto& [offset, bytes] : applied_) {
    std::memcpy(&image_[offset], &medium_[offset], bytes);
  }
  applied_.clear();
  off_t at = lseek(fd_.get(), 0, SEEK_DATA);
  while (at >= 0) {
    const off_t end = lseek(fd_.get(), at, SEEK_HOLE);
    for (auto from = static_cast<uint64_t>(at); from < static_cast<uint64_t>(end);) {
      const uint64_t bytes = std::min(kCompareBytes, static_cast<uint64_t>(end) - from);
      if (std::memcmp(&image_[from], &medium_[from], bytes) != 0) {
        std::memcpy(&image_[from], &medium_[from], bytes);
      }
      from += bytes;
    }
    at = lseek(fd_.get(), end, SEEK_DATA);
  }
}

// The loop device has pages of its own, which know nothing of what happened to the file.
absl::Status CrashDevice::DropPages() const {
  TD_ASSIGN_OR_RETURN(const auto fd, storage_node::disk::Open(device_, O_RDWR, device_));
  if (ioctl(fd.get(), BLKFLSBUF, 0) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("BLKFLSBUF ", device_, ": ", std::strerror(errno)));
}

}  // namespace tapedeck::lab
