#include "storage_node/store/directory/spares.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/thread.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/fd.h"
#include "storage_node/store/directory/mark.h"
#include "storage_node/store/directory/member.h"

namespace tapedeck::storage_node::store::directory {
namespace {

constexpr char kSparesDirectory[] = "spares";
constexpr char kDataFile[] = "data";

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
  absl::MutexLock lock(&mutex_);
  if (wanted_ > 0) FindFiles();
}

absl::Status Spares::Start() {
  if (thread_.joinable()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(thread_,
                      dataplane::StartThread(absl::StrCat("spares-", number_), [this] { Loop(); }));
  return absl::OkStatus();
}

absl::StatusOr<disk::Directory> Spares::Folder() const {
  TD_RETURN_IF_ERROR(root_.status());
  TD_ASSIGN_OR_RETURN(const auto config, root_->OpenDirectory(kConfigDirectory));
  return config.MakeDirectory(kSparesDirectory);
}

absl::StatusOr<disk::Directory> Spares::FolderIfThere() const {
  TD_RETURN_IF_ERROR(root_.status());
  return root_->OpenDirectory(absl::StrCat(kConfigDirectory, "/", kSparesDirectory));
}

// A spare has one name: whatever had two would be written to behind the back of the other.
bool Spares::IsSpare(const disk::Directory& folder, const std::string& name) const {
  const auto fd = folder.OpenFile(name, O_RDONLY);
  struct stat status;
  return fd.ok() && fstat(fd->get(), &status) == 0 && status.st_nlink == 1 &&
         static_cast<uint64_t>(status.st_size) == bytes_ && IsMarked(*fd, lun_uid_);
}

void Spares::Keep(uint32_t files, uint64_t bytes) {
  {
    absl::MutexLock lock(&mutex_);
    if (bytes != bytes_) std::ranges::move(std::exchange(files_, {}), std::back_inserter(surplus_));
    if (files != wanted_ || bytes != bytes_) full_ = false;
    wanted_ = files;
    bytes_ = bytes;
    if (!looked_) FindFiles();
    DropSurplus();
  }
  if (thread_.joinable()) return;
  while (RemoveSurplus()) {
  }
}

void Spares::DropSurplus() {
  for (; files_.size() > wanted_; files_.pop_back()) surplus_.push_back(std::move(files_.back()));
  const bool lacks = part_.has_value() && part_->bytes == bytes_ && files_.size() < wanted_;
  if (!lacks && !writing_) DropPart();
}

// Without the lock: recordings begin meanwhile.
bool Spares::RemoveSurplus() {
  std::string name;
  {
    absl::MutexLock lock(&mutex_);
    if (surplus_.empty()) return false;
    name = std::move(surplus_.back());
    surplus_.pop_back();
  }
  RemoveOurs(name, "the LUN now keeps fewer, or of another size");
  return true;
}

void Spares::RemoveOurs(const std::string& name, absl::string_view why) const {
  const auto folder = Folder();
  if (!folder.ok() || !IsOurSpare(*folder, name, lun_uid_)) return;
  if (folder->RemoveFile(name).value_or(false)) LogSpareRemoved(*folder, name, why);
}

// Where none are kept there need not be a folder.
void Spares::FindFiles() {
  looked_ = true;
  const auto folder = wanted_ > 0 ? Folder() : FolderIfThere();
  const auto entries = folder.ok() ? folder->List() : folder.status();
  if (!entries.ok()) return;  // as if there were none: Write says what is wrong
  Foreign foreign(folder->path());
  for (const disk::Entry& entry : *entries) {
    const auto number = SpareNumber(entry.name);
    if (number.has_value()) next_ = std::max(next_, *number + 1);
    if (!number.has_value() || !IsOurSpare(*folder, entry.name, lun_uid_)) {
      foreign.Add(entry.name);
    } else if (!IsUnfinishedSpare(entry.name) && files_.size() < wanted_ &&
               IsSpare(*folder, entry.name)) {
      files_.push_back(entry.name);
    } else if (folder->RemoveFile(entry.name).value_or(false)) {
      LogSpareRemoved(*folder, entry.name, "a crash left it unfinished, or enough are ready");
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
    if (!SpareNumber(entry.name).has_value() || !IsOurSpare(*folder, entry.name, lun_uid)) continue;
    TD_RETURN_IF_ERROR(folder->RemoveFile(entry.name).status());
    LogSpareRemoved(*folder, entry.name, "the LUN was deleted");
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
  std::vector<std::string>& from = surplus_.empty() ? files_ : surplus_;
  if (from.empty()) return false;
  const std::string name = std::move(from.back());
  from.pop_back();
  RemoveOurs(name, "the disk is full");
  return true;
}

void Spares::DropPart() {
  if (!part_.has_value()) return;
  if (const auto folder = Folder(); folder.ok() && part_->made) {
    // The next start removes it.
    folder->RemoveFile(UnfinishedSpare(part_->name)).IgnoreError();
  }
  part_.reset();
}

std::string Spares::NewName() { return absl::StrCat(next_++); }

void Spares::Loop() {
  SparePart part;
  for (Next next = Await(&part); next != Next::kStop; next = Await(&part)) {
    if (next == Next::kRemove) {
      RemoveSurplus();
      continue;
    }
    const auto folder = Folder();
    const auto go_on = [&] { return GoOn(part); };
    const absl::Status status =
        folder.ok() ? WriteSpare(*folder, lun_uid_, member_, go_on, &part) : folder.status();
    End(std::move(part), status);
  }
}

Spares::Next Spares::Await(SparePart* part) {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stop_ || !surplus_.empty() || Wanted();
  };
  const auto urgent = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stop_ || !surplus_.empty();
  };
  absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(&ready));
    if (stop_) return Next::kStop;
    if (!surplus_.empty()) return Next::kRemove;
    const absl::Duration left = quiet_since_ + kQuiet - dataplane::SteadyTime();
    if (left <= absl::ZeroDuration()) break;
    dataplane::AwaitFor(mutex_, absl::Condition(&urgent), left);
  }
  if (!part_.has_value()) part_ = SparePart{.name = NewName(), .bytes = bytes_};
  writing_ = true;
  *part = *part_;
  return Next::kWrite;
}

bool Spares::GoOn(const SparePart& part) {
  absl::MutexLock lock(&mutex_);
  return !stop_ && Wanted() && part.bytes == bytes_;
}

void Spares::End(SparePart part, const absl::Status& status) {
  const uint64_t bytes = part.bytes;
  const bool whole = status.ok() && part.written == bytes;
  bool all;
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    if (!status.ok()) full_ = true;
    if (whole) (bytes == bytes_ ? files_ : surplus_).push_back(part.name);
    part_ = whole ? std::nullopt : std::make_optional(std::move(part));
    all = whole && bytes == bytes_ && files_.size() == wanted_;
    if (!status.ok()) DropPart();
    DropSurplus();
  }
  if (!status.ok()) {
    dataplane::Log(dataplane::LogLevel::kWarning, "spares",
                   "spare file not made: the node tries again when a recording is deleted",
                   {{"member", member_}, {"error", std::string(status.message())}});
  } else if (all) {
    dataplane::Log(dataplane::LogLevel::kInfo, "spares", "all spare files are there",
                   {{"member", member_}, {"bytes", absl::StrCat(bytes)}});
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
  if (records_ && --spares_.recorders_ == 0) spares_.quiet_since_ = dataplane::SteadyTime();
}

}  // namespace tapedeck::storage_node::store::directory
