#include "storage_node/store/directory/open_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/disk/fd.h"
#include "storage_node/format/limits.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/directory/mark.h"

namespace tapedeck::storage_node::store::directory {
namespace {

// Reserved ahead in steps, with the size set, so that neither a write nor an fdatasync has to
// change the file's metadata. Smaller steps cost a journal commit more often.
constexpr uint64_t kDataStepBytes = 64 << 20;
constexpr uint64_t kIndexStepBytes = 1 << 20;

// The file is not there, or what is there is not ours: both leave the recording without it.
bool IsGone(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsFailedPrecondition(status);
}

}  // namespace

// What was there before is not recorded into: where its index is mended it ends where it ended.
OpenFiles::OpenFiles(Member& member, disk::Directory channel, disk::Directory directory,
                     Purpose purpose)
    : member_(member),
      channel_(std::move(channel)),
      directory_(std::move(directory)),
      records_(purpose == Purpose::kCreate || purpose == Purpose::kGoOn),
      data_step_bytes_(records_ ? kDataStepBytes : 0),
      index_step_bytes_(records_ ? kIndexStepBytes : 0),
      use_(member.spares(), records_) {}

absl::StatusOr<std::shared_ptr<OpenFiles>> OpenFiles::Open(Member& member,
                                                           const store::RecordingPath& path,
                                                           int data_flags, Purpose purpose) {
  const bool create = purpose == Purpose::kCreate;
  TD_ASSIGN_OR_RETURN(disk::Directory channel, member.root().OpenDirectory(path.channel));
  TD_ASSIGN_OR_RETURN(disk::Directory directory, channel.OpenDirectory(path.recording));
  std::shared_ptr<OpenFiles> open(
      new OpenFiles(member, std::move(channel), std::move(directory), purpose));
  const int flags = O_RDWR | (create ? O_CREAT | O_EXCL : 0);
  const int data_flags_made = purpose == Purpose::kMend ? O_RDWR | O_CREAT : flags;
  const bool spare = create && member.spares().Take(open->directory_);
  const absl::Status data =
      open->OpenFile("data", (spare ? O_RDWR : data_flags_made) | data_flags, &open->data_);
  if (!data.ok() && (purpose != Purpose::kPieces || !IsGone(data))) return data;
  open->use_.SetFile(open->data_.inode);
  const absl::Status status = open->OpenFile("index", flags, &open->index_);
  open->index_open_ = status.ok();
  if (!data.ok() && !status.ok() && !open->directory_.OpenFile(kManifestFile, O_RDONLY).ok()) {
    return data;
  }
  if (!data.ok()) TD_RETURN_IF_ERROR(open->StandIn());
  // Another member may have a copy of what is gone: whoever needs this one is told.
  if (!status.ok() && (open->records_ || !IsGone(status))) return status;
  return open;
}

absl::Status OpenFiles::StandIn() {
  has_data_ = false;
  data_.fd = disk::Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return data_.fd.get() >= 0 ? absl::OkStatus()
                             : disk::IoError("open", "/dev/null", member_.path(), errno);
}

absl::Status OpenFiles::OpenIndex() {
  if (index_open_) return absl::OkStatus();
  // Others may have made it again meanwhile.
  const absl::Status status = OpenFile("index", O_RDWR, &index_);
  index_open_ = status.ok();
  return IndexStatus(status);
}

absl::Status OpenFiles::MakeIndex() {
  if (OpenIndex().ok()) return absl::OkStatus();
  index_named_ = false;
  const absl::Status status = OpenFile("index", O_RDWR | O_CREAT, &index_);
  index_open_ = status.ok();
  return IndexStatus(status);
}

absl::Status OpenFiles::IndexStatus(const absl::Status& status) const {
  if (!IsGone(status)) return status;
  return disk::StoreIo(member_path(), "open",
                       absl::StrCat(status.message(), "; check member ", member_path()),
                       absl::StatusCode::kDataLoss);
}

absl::Status OpenFiles::OpenFile(const std::string& name, int flags, File* file) const {
  file->path = directory_.PathOf(name);
  TD_RETURN_IF_ERROR(member_.spares().WithRoom([&]() -> absl::Status {
    TD_ASSIGN_OR_RETURN(file->fd, directory_.OpenFile(name, flags));
    return absl::OkStatus();
  }));
  struct stat status;
  if (fstat(file->fd.get(), &status) != 0) {
    return disk::IoError("fstat", file->path, member_.path(), errno);
  }
  file->reserved = static_cast<uint64_t>(status.st_size);
  file->inode = status.st_ino;
  return absl::OkStatus();
}

absl::Status OpenFiles::Reserve(File* file, uint64_t end, uint64_t step) const {
  return member_.spares().WithRoom([&] { return TryToReserve(file, end, step); });
}

absl::Status OpenFiles::TryToReserve(File* file, uint64_t end, uint64_t step) const {
  const uint64_t reserved = file->reserved;
  if (end <= reserved) return absl::OkStatus();
  // Near the end of the disk a whole step may not fit although the block does.
  for (const uint64_t to : {std::max(end, reserved + step), end}) {
    absl::Status status =
        disk::Allocate(file->fd, reserved, to - reserved, file->path, member_.path());
    if (status.ok()) file->reserved = to;
    if (!absl::IsResourceExhausted(status) || to == end) return status;
  }
  return absl::OkStatus();
}

absl::Status OpenFiles::ReserveData(uint64_t end) { return Reserve(&data_, end, data_step_bytes_); }

absl::Status OpenFiles::ReserveAhead(uint64_t end) {
  return records_ ? TryToReserve(&data_, end, data_step_bytes_) : absl::OkStatus();
}

absl::Status OpenFiles::Write(const File& file, std::span<const std::byte> bytes,
                              uint64_t offset) const {
  return member_.spares().WithRoom(
      [&] { return disk::WriteAll(file.fd, bytes, offset, file.path, member_.path()); });
}

absl::Status OpenFiles::Ended(absl::Status status) const {
  if (absl::IsInternal(status)) member_.SuspectDisk();
  status.Update(lost_.status());
  return status;
}

absl::Status OpenFiles::Look() const {
  struct stat status;
  if (!records_ || fstat(data_.fd.get(), &status) != 0 || status.st_nlink > 0) {
    return absl::OkStatus();
  }
  return store::RecordingVanished(
      member_.path(), absl::StrCat(data_.path, " was removed while it was recorded into"));
}

absl::Status OpenFiles::WriteData(std::span<const std::byte> bytes, uint64_t offset) {
  absl::Status status = ReserveData(offset + bytes.size());
  if (status.ok()) status = Write(data_, bytes, offset);
  return Ended(std::move(status));
}

absl::Status OpenFiles::EndsEarly(uint64_t end, uint64_t needed) const {
  return disk::StoreIo(
      member_.path(), "read",
      absl::StrCat("read ", data_.path, ": the file ends at byte ", end, ", block needs ", needed),
      absl::StatusCode::kOutOfRange);
}

absl::Status OpenFiles::ReadData(std::span<std::byte> into, uint64_t offset) const {
  TD_ASSIGN_OR_RETURN(const size_t n,
                      disk::ReadSome(data_.fd, into, offset, data_.path, member_.path()));
  if (n == into.size()) return absl::OkStatus();
  return EndsEarly(offset + n, offset + into.size());
}

absl::Status OpenFiles::WriteIndex(std::span<const std::byte> bytes, uint64_t offset) {
  TD_RETURN_IF_ERROR(MakeIndex());
  absl::Status status = Reserve(&index_, offset + bytes.size(), index_step_bytes_);
  if (status.ok()) status = Write(index_, bytes, offset);
  return Ended(std::move(status));
}

absl::StatusOr<size_t> OpenFiles::ReadIndex(std::span<std::byte> into, uint64_t offset) {
  TD_RETURN_IF_ERROR(OpenIndex());
  return disk::ReadSome(index_.fd, into, offset, index_.path, member_.path());
}

absl::Status OpenFiles::Truncate(File* file, uint64_t bytes) const {
  if (ftruncate(file->fd.get(), static_cast<off_t>(bytes)) != 0) {
    return disk::IoError("ftruncate", file->path, member_.path(), errno);
  }
  file->reserved = bytes;
  return absl::OkStatus();
}

absl::Status OpenFiles::Trim(uint64_t data_bytes, uint64_t index_bytes) {
  TD_RETURN_IF_ERROR(lost_.status());
  // What is gone has nothing to give back.
  if (has_data_) {
    TD_RETURN_IF_ERROR(Truncate(&data_, std::min<uint64_t>(data_bytes, data_.reserved)));
  }
  return index_open_ ? Truncate(&index_, index_bytes) : absl::OkStatus();
}

// A failed fdatasync leaves pages that the kernel holds for clean although the disk has not got
// them: they are dropped, so that whoever reads finds what the disk has.
absl::Status OpenFiles::SyncFile(const File& file) const {
  if (fdatasync(file.fd.get()) == 0) return absl::OkStatus();
  absl::Status status = disk::IoError("fdatasync", file.path, member_.path(), errno);
  posix_fadvise(file.fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  return status;
}

// Into a file without a name every flush ends well, and for nothing.
absl::Status OpenFiles::Sync() {
  absl::Status status = SyncFiles();
  if (status.ok()) status = Look();
  return Ended(std::move(status));
}

absl::Status OpenFiles::SyncFiles() {
  absl::Status status = has_data_ ? SyncFile(data_) : absl::OkStatus();
  if (!index_open_) return status;
  status.Update(SyncFile(index_));
  if (!status.ok() || index_named_) return status;
  status = directory_.Sync();
  index_named_ = status.ok();
  return status;
}

absl::Status OpenFiles::SyncDirectories() const {
  TD_RETURN_IF_ERROR(directory_.Sync());
  TD_RETURN_IF_ERROR(channel_.Sync());
  return member_.root().Sync();
}

// What says how it was damaged stays beside the next one, whoever writes that.
absl::Status OpenFiles::KeepDamagedManifest() const {
  const auto text = ReadManifest();
  if (!text.ok() || text->empty() || !format::IsDamagedManifest(*text)) return absl::OkStatus();
  // A second name first: at no moment is there none.
  absl::Status status = directory_.AddName(kManifestFile, kDamagedManifestFile);
  if (absl::IsUnimplemented(status)) {
    status = directory_.Rename(kManifestFile, directory_, kDamagedManifestFile);
  }
  return absl::IsAlreadyExists(status) ? absl::OkStatus() : status;
}

absl::Status OpenFiles::WriteManifest(const std::string& text) const {
  TD_RETURN_IF_ERROR(lost_.status());
  absl::Status status = KeepDamagedManifest();
  if (status.ok()) {
    status = member_.spares().WithRoom([&] { return directory_.WriteFile(kManifestFile, text); });
  }
  if (absl::IsNotFound(status)) {
    status = store::RecordingVanished(member_.path(),
                                      absl::StrCat(directory_.path(), " was removed while in use"));
  }
  return Ended(std::move(status));
}

absl::StatusOr<std::string> OpenFiles::ReadManifest() const {
  return directory_.ReadFile(kManifestFile, format::kMaxManifestBytes);
}

}  // namespace tapedeck::storage_node::store::directory
