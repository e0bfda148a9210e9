#include "storage_node/store/posix/open_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "storage_node/disk/durable_file.h"
#include "storage_node/disk/io_error.h"

namespace tapedeck::storage_node::store::posix {
namespace {

// Reserved ahead in steps, with the size set, so that neither a write nor an fdatasync has to
// change the file's metadata. Smaller steps cost a journal commit more often.
constexpr uint64_t kDataStepBytes = 64 << 20;
constexpr uint64_t kIndexStepBytes = 1 << 20;

// 0, or the error. File systems without fallocate extend the file at each write instead.
int Allocate(int fd, uint64_t offset, uint64_t bytes) {
  int result;
  do {
    result = fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno == EOPNOTSUPP ? 0 : errno;
}

}  // namespace

absl::StatusOr<std::shared_ptr<OpenFiles>> OpenFiles::Open(const std::vector<Member*>& members,
                                                           std::vector<std::string> directories,
                                                           int flags) {
  std::shared_ptr<OpenFiles> open(new OpenFiles);
  for (size_t m = 0; m < members.size(); ++m) {
    MemberFiles files{.member = members[m], .directory = std::move(directories[m])};
    TD_ASSIGN_OR_RETURN(files.data,
                        OpenFile(absl::StrCat(files.directory, "/data"), flags, *members[m]));
    if (m < format::kMaxIndexCopies) {
      TD_ASSIGN_OR_RETURN(files.index,
                          OpenFile(absl::StrCat(files.directory, "/index"), flags, *members[m]));
    }
    open->files_.push_back(std::move(files));
  }
  return open;
}

absl::StatusOr<OpenFiles::File> OpenFiles::OpenFile(std::string path, int flags,
                                                    const Member& member) {
  File file{.path = std::move(path)};
  TD_ASSIGN_OR_RETURN(file.fd, disk::Open(file.path, O_RDWR | flags, member.path()));
  struct stat status;
  if (fstat(file.fd.get(), &status) != 0) {
    return disk::IoError("fstat", file.path, member.path(), errno);
  }
  file.reserved = static_cast<uint64_t>(status.st_size);
  return file;
}

absl::Status OpenFiles::Reserve(File* file, uint64_t end, uint64_t step, const Member& member) {
  if (end <= file->reserved) return absl::OkStatus();
  // Near the end of the disk a whole step may not fit although the block does.
  for (const uint64_t to : {std::max(end, file->reserved + step), end}) {
    const int error = Allocate(file->fd.get(), file->reserved, to - file->reserved);
    if (error == 0) {
      file->reserved = to;
      return absl::OkStatus();
    }
    if (error != ENOSPC || to == end) {
      return disk::IoError("fallocate", file->path, member.path(), error);
    }
  }
  return absl::OkStatus();
}

absl::Status OpenFiles::WriteData(uint32_t m, std::span<const std::byte> bytes, uint64_t offset) {
  File& file = files_[m].data;
  TD_RETURN_IF_ERROR(Reserve(&file, offset + bytes.size(), kDataStepBytes, member(m)));
  return disk::WriteAll(file.fd, bytes, offset, file.path, member(m).path());
}

absl::Status OpenFiles::ReadData(uint32_t m, std::span<std::byte> into, uint64_t offset) const {
  const File& file = files_[m].data;
  const std::string& member = files_[m].member->path();
  TD_ASSIGN_OR_RETURN(const size_t n, disk::ReadSome(file.fd, into, offset, file.path, member));
  if (n == into.size()) return absl::OkStatus();
  return services::WithReason(
      absl::InternalError(absl::StrCat("pread ", file.path, ": the file ends at byte ", offset + n,
                                       ", block needs ", offset + into.size())),
      "STORE_IO", {{"member", member}, {"operation", "pread"}});
}

absl::Status OpenFiles::WriteIndex(uint32_t m, std::span<const std::byte> bytes, uint64_t offset) {
  File& file = files_[m].index;
  TD_RETURN_IF_ERROR(Reserve(&file, offset + bytes.size(), kIndexStepBytes, member(m)));
  return disk::WriteAll(file.fd, bytes, offset, file.path, member(m).path());
}

absl::StatusOr<size_t> OpenFiles::ReadIndex(uint32_t m, std::span<std::byte> into,
                                            uint64_t offset) const {
  const File& file = files_[m].index;
  return disk::ReadSome(file.fd, into, offset, file.path, files_[m].member->path());
}

absl::Status OpenFiles::Truncate(File* file, uint64_t bytes, const Member& member) {
  if (file->fd.get() < 0) return absl::OkStatus();
  if (ftruncate(file->fd.get(), static_cast<off_t>(bytes)) != 0) {
    return disk::IoError("ftruncate", file->path, member.path(), errno);
  }
  file->reserved = bytes;
  return absl::OkStatus();
}

absl::Status OpenFiles::TrimMember(uint32_t m, uint64_t data_bytes, uint64_t index_bytes) {
  TD_RETURN_IF_ERROR(Truncate(&files_[m].data, data_bytes, member(m)));
  return Truncate(&files_[m].index, index_bytes, member(m));
}

absl::Status OpenFiles::SyncMember(uint32_t m) const {
  for (const File* file : {&files_[m].data, &files_[m].index}) {
    if (file->fd.get() >= 0 && fdatasync(file->fd.get()) != 0) {
      return disk::IoError("fdatasync", file->path, files_[m].member->path(), errno);
    }
  }
  return absl::OkStatus();
}

absl::Status OpenFiles::SyncDirectories(uint32_t m) const {
  const std::string& member = files_[m].member->path();
  const std::filesystem::path recording = files_[m].directory;
  TD_RETURN_IF_ERROR(disk::SyncDirectory(recording.string(), member));
  TD_RETURN_IF_ERROR(disk::SyncDirectory(recording.parent_path().string(), member));
  return disk::SyncDirectory(member, member);
}

absl::Status OpenFiles::WriteManifest(uint32_t m, const std::string& text) const {
  return disk::WriteFileAtomically(absl::StrCat(files_[m].directory, "/manifest.json"), text,
                                   files_[m].member->path());
}

absl::StatusOr<std::string> OpenFiles::ReadManifest(uint32_t m) const {
  return disk::ReadFile(absl::StrCat(files_[m].directory, "/manifest.json"),
                        files_[m].member->path());
}

}  // namespace tapedeck::storage_node::store::posix
