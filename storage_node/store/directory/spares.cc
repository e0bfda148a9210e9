#include "storage_node/store/directory/spares.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "dataplane/executor/thread.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/allocate.h"
#include "storage_node/disk/fd.h"
#include "storage_node/disk/io_error.h"
#include "storage_node/store/directory/mark.h"
#include "storage_node/store/directory/member.h"

namespace tapedeck::storage_node::store::directory {
namespace {

// Between two of them a recording may begin: it waits for no more.
constexpr size_t kStepBytes = 1 << 20;
constexpr size_t kAlignment = 4096;  // of O_DIRECT

constexpr char kSparesDirectory[] = "spares";
constexpr char kDataFile[] = "data";
constexpr absl::string_view kUnfinished = ".part";

std::string Unfinished(const std::string& name) { return absl::StrCat(name, kUnfinished); }

// N or N.part, as NewName has made them.
std::optional<uint64_t> NumberOf(absl::string_view name) {
  uint64_t number = 0;
  const absl::string_view digits = absl::StripSuffix(name, kUnfinished);
  const bool ours = absl::SimpleAtoi(digits, &number) && absl::StrCat(number) == digits;
  return ours ? std::make_optional(number) : std::nullopt;
}

bool IsOurs(const disk::Directory& folder, const std::string& name, const std::string& uid) {
  const auto fd = folder.OpenFile(name, O_RDONLY);
  return fd.ok() && IsMarked(*fd, uid);
}

// Past the page cache; where that cannot be, each step is flushed, so that no recording finds a
// disk that is busy with pages of spares.
absl::StatusOr<disk::Fd> OpenUnfinished(const disk::Directory& folder, const std::string& name) {
  auto fd = folder.OpenFile(name, O_WRONLY | O_DIRECT);
  return fd.ok() ? std::move(fd) : folder.OpenFile(name, O_WRONLY | O_DSYNC);
}

void LogRemoved(const disk::Directory& folder, const std::string& name, absl::string_view why) {
  dataplane::LogEach(dataplane::LogLevel::kInfo, "spares", "spare file removed",
                     {{"path", folder.PathOf(name)}, {"why", std::string(why)}});
}

// After the last recording has ended: a stream in segments may be about to go on.
constexpr absl::Duration kQuiet = absl::Seconds(1);

}  // namespace

Spares::Spares(const services::Lun& lun, uint32_t number)
    : number_(number),
      member_(lun.members[number]),
      root_(disk::Directory::Open(member_, member_)),
      lun_uid_(lun.recorded_uid()),
      wanted_(lun.prewrite_files),
      bytes_(lun.prewrite_bytes) {
  if (wanted_ == 0) return;
  absl::MutexLock lock(&mutex_);
  FindFiles();
}

absl::Status Spares::Start() {
  if (wanted_ == 0) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(thread_,
                      dataplane::StartThread(absl::StrCat("spares-", number_), [this] { Loop(); }));
  return absl::OkStatus();
}

absl::StatusOr<disk::Directory> Spares::Folder() const {
  TD_RETURN_IF_ERROR(root_.status());
  TD_ASSIGN_OR_RETURN(const auto config, root_->OpenDirectory(kConfigDirectory));
  return config.MakeDirectory(kSparesDirectory);
}

// A spare has one name: whatever had two would be written to behind the back of the other.
bool Spares::IsSpare(const disk::Directory& folder, const std::string& name) const {
  const auto fd = folder.OpenFile(name, O_RDONLY);
  struct stat status;
  return fd.ok() && fstat(fd->get(), &status) == 0 && status.st_nlink == 1 &&
         static_cast<uint64_t>(status.st_size) == bytes_ && IsMarked(*fd, lun_uid_);
}

void Spares::FindFiles() {
  const auto folder = Folder();
  const auto entries = folder.ok() ? folder->List() : folder.status();
  if (!entries.ok()) return;  // as if there were none: Write says what is wrong
  Foreign foreign(folder->path());
  for (const disk::Entry& entry : *entries) {
    const auto number = NumberOf(entry.name);
    if (number.has_value()) next_ = std::max(next_, *number + 1);
    if (!number.has_value() || !IsOurs(*folder, entry.name, lun_uid_)) {
      foreign.Add(entry.name);
    } else if (!absl::EndsWith(entry.name, kUnfinished) && files_.size() < wanted_ &&
               IsSpare(*folder, entry.name)) {
      files_.push_back(entry.name);
    } else if (folder->RemoveFile(entry.name).value_or(false)) {
      LogRemoved(*folder, entry.name, "a crash left it unfinished, or none lacks");
    }
  }
}

absl::Status Spares::Remove(const disk::Directory& config, const std::string& lun_uid) {
  const auto folder = config.OpenDirectory(kSparesDirectory);
  if (absl::IsNotFound(folder.status()) || absl::IsFailedPrecondition(folder.status())) {
    return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(folder.status());
  TD_ASSIGN_OR_RETURN(const auto entries, folder->List());
  for (const disk::Entry& entry : entries) {
    if (!NumberOf(entry.name).has_value() || !IsOurs(*folder, entry.name, lun_uid)) continue;
    TD_RETURN_IF_ERROR(folder->RemoveFile(entry.name).status());
    LogRemoved(*folder, entry.name, "the LUN was deleted");
  }
  return config.RemoveEmpty(kSparesDirectory).status();
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

bool Spares::Take(const disk::Directory& recording) {
  absl::MutexLock lock(&mutex_);
  if (files_.empty()) return false;
  const auto folder = Folder();
  if (!folder.ok()) return false;
  while (!files_.empty()) {
    const std::string& name = files_.back();
    const bool sound = IsSpare(*folder, name);
    if (sound && !folder->Rename(name, recording, kDataFile).ok()) return false;
    files_.pop_back();
    if (sound) return true;
  }
  return false;
}

void Spares::GiveBack(const disk::Directory& recording) {
  absl::MutexLock lock(&mutex_);
  if (stop_ || files_.size() >= wanted_ || !MakeSpare(recording)) return;
  const auto folder = Folder();
  std::string spare = NewName();
  if (!folder.ok() || !recording.Rename(kDataFile, *folder, spare).ok()) return;
  files_.push_back(std::move(spare));
  if (files_.size() >= wanted_ && !writing_) DropPart();
}

bool Spares::MakeSpare(const disk::Directory& recording) const {
  const auto fd = recording.OpenFile(kDataFile, O_RDWR);
  struct stat status;
  if (!fd.ok() || fstat(fd->get(), &status) != 0) return false;
  const auto size = static_cast<uint64_t>(status.st_size);
  if (status.st_nlink != 1 || size < bytes_ || open_.contains(status.st_ino)) return false;
  // What was reserved and never written is a hole to lseek(2).
  const off_t hole = lseek(fd->get(), 0, SEEK_HOLE);
  if (hole >= 0 && static_cast<uint64_t>(hole) < bytes_) return false;
  if (!MarkFile(*fd, lun_uid_, recording.PathOf(kDataFile), member_).ok()) return false;
  return size == bytes_ || ftruncate(fd->get(), static_cast<off_t>(bytes_)) == 0;
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
  const std::string name = std::move(files_.back());
  files_.pop_back();
  if (const auto folder = Folder(); folder.ok() && IsSpare(*folder, name)) {
    folder->RemoveFile(name).IgnoreError();
    LogRemoved(*folder, name, "the disk is full");
  }
  return true;
}

void Spares::DropPart() {
  if (!part_.has_value()) return;
  if (const auto folder = Folder(); folder.ok() && part_->made) {
    folder->RemoveFile(Unfinished(part_->name)).IgnoreError();
  }
  part_.reset();
}

std::string Spares::NewName() { return absl::StrCat(next_++); }

void Spares::Loop() {
  while (std::optional<Part> part = Begin()) {
    const absl::Status status = Write(&*part);
    End(*std::move(part), status);
  }
}

std::optional<Spares::Part> Spares::Begin() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || Wanted(); };
  absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(&ready));
    if (stop_) return std::nullopt;
    const absl::Duration left = quiet_since_ + kQuiet - absl::Now();
    if (left <= absl::ZeroDuration()) break;
    mutex_.AwaitWithTimeout(absl::Condition(&stop_), left);
  }
  if (!part_.has_value()) part_ = Part{.name = NewName()};
  writing_ = true;
  return part_;
}

bool Spares::GoOn() {
  absl::MutexLock lock(&mutex_);
  return !stop_ && Wanted();
}

absl::Status Spares::Write(Part* part) {
  const std::string name = Unfinished(part->name);
  TD_ASSIGN_OR_RETURN(const disk::Directory folder, Folder());
  const std::string path = folder.PathOf(name);
  if (!part->made) TD_RETURN_IF_ERROR(MakeMarkedFile(folder, name, lun_uid_));
  part->made = true;
  TD_ASSIGN_OR_RETURN(const disk::Fd fd, OpenUnfinished(folder, name));
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
  return folder.Rename(name, folder, part->name);
}

void Spares::End(Part part, const absl::Status& status) {
  const bool whole = status.ok() && part.written == bytes_;
  size_t files;
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    if (!status.ok()) full_ = true;
    if (whole) files_.push_back(std::move(part.name));
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
  if (records_ && --spares_.recorders_ == 0) spares_.quiet_since_ = absl::Now();
}

}  // namespace tapedeck::storage_node::store::directory
