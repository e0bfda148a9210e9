#include "storage_node/directory/spares.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/directory/member.h"
#include "storage_node/disk/allocate.h"
#include "storage_node/disk/durable_file.h"
#include "storage_node/disk/fd.h"
#include "storage_node/disk/io_error.h"

namespace tapedeck::storage_node::directory {
namespace {

// Between two of them a recording may begin: it waits for no more.
constexpr size_t kStepBytes = 1 << 20;
constexpr size_t kAlignment = 4096;  // of O_DIRECT

std::string Unfinished(const std::string& path) { return absl::StrCat(path, ".part"); }

// Past the page cache; where that cannot be, each step is flushed, so that no recording finds a
// disk that is busy with pages of spares.
absl::StatusOr<disk::Fd> OpenUnfinished(const std::string& path, const std::string& member) {
  auto fd = disk::Open(path, O_WRONLY | O_CREAT | O_DIRECT, member);
  return fd.ok() ? std::move(fd) : disk::Open(path, O_WRONLY | O_CREAT | O_DSYNC, member);
}

// A spare has one name: whatever had two would be written to behind the back of the other.
bool IsWhole(const std::string& path, uint64_t bytes) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
         static_cast<uint64_t>(status.st_size) == bytes;
}

}  // namespace

Spares::Spares(const services::Lun& lun, uint32_t number)
    : member_(lun.members[number]),
      directory_(absl::StrCat(ConfigDirectory(member_), "/spares")),
      wanted_(lun.prewrite_files),
      bytes_(lun.prewrite_bytes) {
  if (wanted_ == 0) return;
  disk::MakeDirectory(directory_, member_).IgnoreError();  // Write needs it, and tries again
  {
    absl::MutexLock lock(&mutex_);
    FindFiles();
  }
  thread_ = std::thread([this] { Loop(); });
  pthread_setname_np(thread_.native_handle(), absl::StrCat("spares-", number).c_str());
}

void Spares::FindFiles() {
  const auto names = disk::ListDirectory(directory_, member_);
  if (!names.ok()) return;  // as if there were none: Write says what is wrong
  for (const std::string& name : *names) {
    std::string path = absl::StrCat(directory_, "/", name);
    uint64_t number = 0;
    const bool numbered = absl::SimpleAtoi(name, &number);
    if (numbered) next_ = std::max(next_, number + 1);
    if (numbered && files_.size() < wanted_ && IsWhole(path, bytes_)) {
      files_.push_back(std::move(path));
    } else {
      unlink(path.c_str());
    }
  }
}

void Spares::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  if (thread_.joinable()) thread_.join();
  absl::MutexLock lock(&mutex_);
  DropPart();
}

bool Spares::Take(const std::string& path) {
  absl::MutexLock lock(&mutex_);
  while (!files_.empty()) {
    const bool taken = rename(files_.back().c_str(), path.c_str()) == 0;
    const bool gone = !taken && access(files_.back().c_str(), F_OK) != 0;
    if (taken || gone) files_.pop_back();
    if (!gone) return taken;
  }
  return false;
}

void Spares::GiveBack(const std::string& path) {
  absl::MutexLock lock(&mutex_);
  if (stop_ || files_.size() >= wanted_ || !MakeSpare(path)) return;
  std::string spare = NewPath();
  if (rename(path.c_str(), spare.c_str()) != 0) return;
  files_.push_back(std::move(spare));
  if (files_.size() >= wanted_ && !writing_) DropPart();
}

bool Spares::MakeSpare(const std::string& path) const {
  const disk::Fd fd(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  if (fd.get() < 0 || fstat(fd.get(), &status) != 0) return false;
  const auto size = static_cast<uint64_t>(status.st_size);
  if (status.st_nlink != 1 || size < bytes_ || open_.contains(status.st_ino)) return false;
  // What was reserved and never written is a hole to lseek(2).
  const off_t hole = lseek(fd.get(), 0, SEEK_HOLE);
  if (hole >= 0 && static_cast<uint64_t>(hole) < bytes_) return false;
  return size == bytes_ || ftruncate(fd.get(), static_cast<off_t>(bytes_)) == 0;
}

void Spares::RoomCameFree() {
  absl::MutexLock lock(&mutex_);
  full_ = false;
}

bool Spares::Release() {
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !writing_; };
  absl::MutexLock lock(&mutex_);
  full_ = true;
  // What it has reserved comes free when it has closed the file.
  mutex_.Await(absl::Condition(&idle));
  if (part_.has_value()) {
    DropPart();
    return true;
  }
  if (files_.empty()) return false;
  unlink(files_.back().c_str());
  files_.pop_back();
  return true;
}

void Spares::DropPart() {
  if (!part_.has_value()) return;
  unlink(Unfinished(part_->path).c_str());
  part_.reset();
}

std::string Spares::NewPath() { return absl::StrCat(directory_, "/", next_++); }

void Spares::Loop() {
  while (std::optional<Part> part = Begin()) {
    const absl::Status status = Write(&*part);
    End(*std::move(part), status);
  }
}

std::optional<Spares::Part> Spares::Begin() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || Wanted(); };
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&ready));
  if (stop_) return std::nullopt;
  if (!part_.has_value()) part_ = Part{.path = NewPath()};
  writing_ = true;
  return part_;
}

bool Spares::GoOn() {
  absl::MutexLock lock(&mutex_);
  return !stop_ && Wanted();
}

absl::Status Spares::Write(Part* part) {
  const std::string path = Unfinished(part->path);
  TD_RETURN_IF_ERROR(disk::MakeDirectory(directory_, member_));
  TD_ASSIGN_OR_RETURN(const disk::Fd fd, OpenUnfinished(path, member_));
  // All at once: in few extents, or not at all where there is no room.
  if (part->written == 0) TD_RETURN_IF_ERROR(disk::Allocate(fd, 0, bytes_, path, member_));
  std::vector<std::byte> memory(kStepBytes + kAlignment);
  void* start = memory.data();
  size_t space = memory.size();
  std::align(kAlignment, kStepBytes, start, space);
  const std::span<const std::byte> zeros(static_cast<const std::byte*>(start), kStepBytes);
  while (part->written < bytes_ && GoOn()) {
    const auto step = zeros.first(std::min<uint64_t>(kStepBytes, bytes_ - part->written));
    TD_RETURN_IF_ERROR(disk::WriteAll(fd, step, part->written, path, member_));
    part->written += step.size();
  }
  if (part->written < bytes_) return absl::OkStatus();
  if (fdatasync(fd.get()) != 0) return disk::IoError("fdatasync", path, member_, errno);
  if (rename(path.c_str(), part->path.c_str()) != 0) {
    return disk::IoError("rename", path, member_, errno);
  }
  return absl::OkStatus();
}

void Spares::End(Part part, const absl::Status& status) {
  const bool whole = status.ok() && part.written == bytes_;
  size_t files;
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    if (!status.ok()) full_ = true;
    if (whole) files_.push_back(std::move(part.path));
    part_ = whole ? std::nullopt : std::make_optional(std::move(part));
    if (!status.ok() || files_.size() >= wanted_) DropPart();
    files = files_.size();
  }
  if (!status.ok()) {
    dataplane::Log(dataplane::LogLevel::kWarning, "spares",
                   "spare file not made: tried again when a recording was deleted",
                   {{"member", member_}, {"error", std::string(status.message())}});
  } else if (whole && files >= wanted_) {
    dataplane::Log(
        dataplane::LogLevel::kInfo, "spares", "all spare files are there",
        {{"member", member_}, {"files", absl::StrCat(files)}, {"bytes", absl::StrCat(bytes_)}});
  }
}

Spares::Use::Use(Spares& spares, bool records) : spares_(spares), records_(records) {
  absl::MutexLock lock(&spares_.mutex_);
  if (records_) ++spares_.recorders_;
}

void Spares::Use::SetFile(uint64_t inode) {
  absl::MutexLock lock(&spares_.mutex_);
  inode_ = inode;
  spares_.open_.insert(inode);
}

Spares::Use::~Use() {
  absl::MutexLock lock(&spares_.mutex_);
  if (inode_.has_value()) spares_.open_.erase(spares_.open_.find(*inode_));
  if (records_) --spares_.recorders_;
}

}  // namespace tapedeck::storage_node::directory
