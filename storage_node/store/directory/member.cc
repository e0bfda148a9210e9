#include "storage_node/store/directory/member.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/config.h"
#include "storage_node/format/limits.h"
#include "storage_node/store/directory/deletion_list.h"
#include "storage_node/store/kind.h"
#include "storage_node/store/lost.h"

namespace tapedeck::storage_node::store::directory {
namespace {

constexpr char kLunFile[] = "lun.json";
constexpr char kLockFile[] = "lock";
constexpr char kBehindFile[] = "behind.json";
constexpr char kLostAndFound[] = "lost+found";
// As many names as an error should have.
constexpr size_t kFoundShown = 5;

absl::Status CheckDirectory(const std::string& member) {
  if (!Member::Is(member)) {
    return disk::Unusable(member, "not a directory; create it, or mount its disk, first",
                          absl::StatusCode::kNotFound);
  }
  if (access(member.c_str(), R_OK | W_OK | X_OK) != 0) {
    return disk::Unusable(member,
                          absl::StrCat("access: ", std::strerror(errno), "; make it writable"));
  }
  return absl::OkStatus();
}

// The text of its lun.json; NOT_FOUND if it is no member.
absl::StatusOr<std::string> ReadLunText(const disk::Directory& root) {
  TD_ASSIGN_OR_RETURN(const auto config, root.OpenDirectory(kConfigDirectory));
  return config.ReadFile(kLunFile, format::kMaxConfigBytes);
}

absl::StatusOr<format::LunMember> MemberAt(const disk::Directory& root) {
  const auto text = ReadLunText(root);
  if (!text.ok()) {
    return disk::Unusable(
        root.path(), absl::StrCat("holds no LUN (", text.status().message(), "); is it mounted?"));
  }
  return format::DecodeLunMember(*text);
}

absl::Status CheckNumber(const format::LunMember& found, const services::Lun& lun, uint32_t number,
                         bool same_lun) {
  const std::string& path = lun.members[number];
  if (!same_lun) {
    return disk::Unusable(path, absl::StrCat("belongs to ", found.lun.name, " (", found.lun.uid,
                                             "), not to ", lun.name));
  }
  if (found.member == number) return absl::OkStatus();
  return disk::Unusable(
      path, absl::StrCat("is member ", found.member, " of ", lun.name, ", not member ", number,
                         "; tapectl lun attach with all members puts each in its place"));
}

std::string NameOfLun(const std::string& text) {
  const auto lun = format::DecodeLun(text);
  return lun.ok() ? lun->name : "a LUN";
}

absl::Status CheckNoMember(const disk::Directory& root) {
  const auto text = ReadLunText(root);
  if (!text.ok()) return absl::OkStatus();
  return disk::Unusable(
      root.path(), absl::StrCat("already belongs to ", NameOfLun(*text),
                                "; use another directory, or use that LUN here: tapectl lun attach "
                                "--member ",
                                root.path()));
}

// Members of other nodes too.
absl::Status CheckInNoMember(const std::string& path) {
  const std::filesystem::path member = path;
  for (auto above = member.parent_path();; above = above.parent_path()) {
    const auto root = disk::Directory::Open(above.string(), path);
    const auto text = root.ok() ? ReadLunText(*root) : root.status();
    if (text.ok()) {
      return disk::Unusable(
          path, absl::StrCat("lies inside ", above.string(), ", a member of ", NameOfLun(*text),
                             "; use a directory outside of it"));
    }
    if (above == above.parent_path()) return absl::OkStatus();
  }
}

// What a Create that was cut short may have left.
absl::StatusOr<bool> IsOnlyBegun(const disk::Directory& root) {
  TD_ASSIGN_OR_RETURN(const auto config, root.OpenDirectory(kConfigDirectory));
  TD_ASSIGN_OR_RETURN(const auto entries, config.List());
  return std::ranges::all_of(entries, [](const disk::Entry& entry) {
    return entry.kind == disk::EntryKind::kFile &&
           (entry.name == kLockFile || entry.name == absl::StrCat(kLunFile, ".new"));
  });
}

// Writes and flushes a file that never has a name. OK where none can be made for other reasons than
// the disk's.
absl::Status TryToWrite(const disk::Directory& root) {
  const disk::Fd fd(openat(root.fd(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.get() < 0) {
    // ENOENT: the directory was removed, which is for others to say.
    if (!disk::IsEndOfDisk(errno) || errno == ENOENT) return absl::OkStatus();
    return disk::IoError("open", root.path(), root.path(), errno);
  }
  constexpr std::array<std::byte, 4096> kPage = {};
  const absl::Status written = disk::WriteAll(fd, kPage, 0, root.path(), root.path());
  if (absl::IsResourceExhausted(written)) return absl::OkStatus();  // full is not broken
  TD_RETURN_IF_ERROR(written);
  if (fsync(fd.get()) == 0 || !disk::IsEndOfDisk(errno)) return absl::OkStatus();
  return disk::IoError("fsync", root.path(), root.path(), errno);
}

absl::Status CheckEmpty(const disk::Directory& root) {
  std::vector<std::string> found;
  TD_ASSIGN_OR_RETURN(const auto entries, root.List());
  for (const disk::Entry& entry : entries) {
    const bool directory = entry.kind == disk::EntryKind::kDirectory;
    if (directory && entry.name == kLostAndFound) continue;
    if (directory && entry.name == kConfigDirectory && IsOnlyBegun(root).value_or(false)) continue;
    found.push_back(entry.name);
  }
  if (found.empty()) return absl::OkStatus();
  const size_t shown = std::min(found.size(), kFoundShown);
  const std::string names = absl::StrCat(
      absl::StrJoin(found.begin(), found.begin() + static_cast<ptrdiff_t>(shown), ", "),
      found.size() > shown ? absl::StrCat(" and ", found.size() - shown, " more") : "");
  return disk::MemberNotEmpty(root.path(), names,
                              absl::StrCat("member ", root.path(), ": it is not empty but holds ",
                                           names, "; make an empty directory for the LUN"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Member>> Member::Create(const services::Lun& lun, uint32_t number) {
  const std::string& path = lun.members[number];
  TD_RETURN_IF_ERROR(CheckDirectory(path));
  TD_RETURN_IF_ERROR(CheckInNoMember(path));
  TD_ASSIGN_OR_RETURN(disk::Directory root, disk::Directory::Open(path, path));
  TD_RETURN_IF_ERROR(CheckNoMember(root));
  TD_RETURN_IF_ERROR(CheckEmpty(root));
  TD_ASSIGN_OR_RETURN(Threads threads, MakeThreads(number));  // before anything is made there
  TD_ASSIGN_OR_RETURN(disk::Directory config, root.MakeDirectory(kConfigDirectory));
  TD_ASSIGN_OR_RETURN(disk::FileLock lock, disk::FileLock::Take(config, kLockFile));
  TD_RETURN_IF_ERROR(CheckNoMember(root));  // somebody else may have been faster
  TD_RETURN_IF_ERROR(config.WriteFile(kLunFile, format::EncodeLun(lun, number)));
  TD_RETURN_IF_ERROR(root.Sync());
  std::unique_ptr<Member> member(new Member(lun, number, std::move(root), std::move(config),
                                            std::move(lock), std::move(threads)));
  const absl::Status status = member->StartSpares(lun);
  if (status.ok()) return member;
  member = nullptr;
  Remove(lun, number).IgnoreError();  // what is left says whose it is
  return status;
}

absl::StatusOr<std::unique_ptr<Member>> Member::Open(const services::Lun& lun, uint32_t number) {
  const std::string& path = lun.members[number];
  TD_RETURN_IF_ERROR(CheckDirectory(path));
  TD_ASSIGN_OR_RETURN(disk::Directory root, disk::Directory::Open(path, path));
  TD_ASSIGN_OR_RETURN(const format::LunMember found, MemberAt(root));
  TD_RETURN_IF_ERROR(CheckNumber(found, lun, number, lun.uid == found.lun.uid));
  TD_ASSIGN_OR_RETURN(disk::Directory config, root.OpenDirectory(kConfigDirectory));
  TD_ASSIGN_OR_RETURN(disk::FileLock lock, disk::FileLock::Take(config, kLockFile));
  // A disk that has died still shows what the kernel remembers of it.
  TD_RETURN_IF_ERROR(TryToWrite(root));
  TD_ASSIGN_OR_RETURN(Threads threads, MakeThreads(number));
  std::unique_ptr<Member> member(new Member(lun, number, std::move(root), std::move(config),
                                            std::move(lock), std::move(threads)));
  TD_RETURN_IF_ERROR(member->StartSpares(lun));
  return member;
}

bool Member::Is(const std::string& path) {
  std::error_code error;
  return IsMemberPath(path) && std::filesystem::is_directory(path, error);
}

absl::StatusOr<MemberName> Member::Check(const std::string& path) {
  TD_ASSIGN_OR_RETURN(MemberName member, MemberPath(path));
  TD_RETURN_IF_ERROR(CheckDirectory(member.name));
  return member;
}

absl::StatusOr<format::LunMember> Member::DescribedBy(const std::string& path) {
  TD_RETURN_IF_ERROR(CheckDirectory(path));
  TD_ASSIGN_OR_RETURN(const disk::Directory root, disk::Directory::Open(path, path));
  return MemberAt(root);
}

absl::StatusOr<std::string> Member::HeldBy(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const disk::Directory root, disk::Directory::Open(path, path));
  TD_ASSIGN_OR_RETURN(const auto config, root.OpenDirectory(kConfigDirectory));
  return disk::HolderOf(config, kLockFile);
}

absl::Status Member::Describe(const services::Lun& lun, uint32_t number) {
  const std::string& path = lun.members[number];
  TD_ASSIGN_OR_RETURN(const disk::Directory root, disk::Directory::Open(path, path));
  TD_ASSIGN_OR_RETURN(const auto config, root.OpenDirectory(kConfigDirectory));
  TD_ASSIGN_OR_RETURN(const disk::FileLock lock, disk::FileLock::Take(config, kLockFile));
  TD_ASSIGN_OR_RETURN(const format::LunMember found, MemberAt(root));
  TD_RETURN_IF_ERROR(
      CheckNumber(found, lun, number, lun.recorded_uid() == found.lun.recorded_uid()));
  return config.WriteFile(kLunFile, format::EncodeLun(lun, number));
}

absl::Status Member::StartSpares(const services::Lun& lun) {
  return lun.prewrite_files == 0 ? absl::OkStatus() : spares_.Start();
}

absl::Status Member::Tell(const services::Lun& lun) {
  TD_RETURN_IF_ERROR(StartSpares(lun));
  const std::string text = format::EncodeLun(lun, number_);
  const auto said = config_.ReadFile(kLunFile, format::kMaxConfigBytes);
  if (said.ok() && *said == text) return absl::OkStatus();
  return spares_.WithRoom([&] { return config_.WriteFile(kLunFile, text); });
}

absl::StatusOr<std::string> Member::ReadBehind() {
  auto text = config_.ReadFile(kBehindFile, format::kMaxConfigBytes);
  if (absl::IsNotFound(text.status())) return std::string();
  if (text.ok() && text->empty()) {
    return absl::DataLossError(absl::StrCat(kBehindFile, " is empty"));
  }
  return text;
}

absl::Status Member::WriteBehind(const std::string& text) {
  if (!text.empty()) {
    return spares_.WithRoom([&] { return config_.WriteFile(kBehindFile, text); });
  }
  // A mark without the list costs nothing; a list that outlives its mark could.
  TD_RETURN_IF_ERROR(config_.RemoveFile(kDeletionListFile).status());
  TD_RETURN_IF_ERROR(config_.RemoveFile(kBehindFile).status());
  return config_.Sync();
}

absl::Status Member::AddDeleted(const store::RecordingPath& path) {
  return spares_.WithRoom([&] { return AppendDeleted(config_, path); });
}

absl::StatusOr<std::set<store::RecordingPath>> Member::Deleted() { return ReadDeleted(config_); }

absl::StatusOr<Member::Threads> Member::MakeThreads(uint32_t number) {
  Threads threads;
  TD_ASSIGN_OR_RETURN(threads.io, services::TaskThread::Create(absl::StrCat("disk-io-", number)));
  TD_ASSIGN_OR_RETURN(threads.sync,
                      services::TaskThread::Create(absl::StrCat("disk-sync-", number)));
  return threads;
}

// What says whose the directory is goes last but for the lock.
absl::Status Member::Remove(const services::Lun& lun, uint32_t number) {
  const std::string& path = lun.members[number];
  TD_ASSIGN_OR_RETURN(const disk::Directory root, disk::Directory::Open(path, path));
  const auto text = ReadLunText(root);
  const auto found = text.ok() ? format::DecodeLun(*text) : text.status();
  if (!found.ok() || found->uid != lun.uid) {
    dataplane::Log(dataplane::LogLevel::kWarning, "directory",
                   "left alone: the directory is not this LUN's member",
                   {{"lun", lun.name}, {"path", path}});
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(const auto config, root.OpenDirectory(kConfigDirectory));
  TD_RETURN_IF_ERROR(Spares::Remove(config, lun.recorded_uid()));
  for (const char* name :
       {"behind.json.new", kBehindFile, kDeletionListFile, "lun.json.new", kLunFile, kLockFile}) {
    TD_RETURN_IF_ERROR(config.RemoveFile(name).status());
  }
  TD_ASSIGN_OR_RETURN(const bool gone, root.RemoveEmpty(kConfigDirectory));
  dataplane::Log(
      gone ? dataplane::LogLevel::kInfo : dataplane::LogLevel::kWarning, "directory",
      gone ? "member released" : "member released; foreign files are left in .tapedeck",
      {{"lun", lun.name}, {"path", path}, {"why", "the LUN is deleted, or no longer uses it"}});
  return absl::OkStatus();
}

absl::Status Member::LookAtPath() const {
  struct stat named, open;
  if (fstat(root_.fd(), &open) != 0 || stat(path().c_str(), &named) != 0) {
    if (!disk::IsEndOfDisk(errno)) return absl::OkStatus();
    return store::MemberVanished(path(),
                                 absl::StrCat("it was removed, renamed or unmounted while in use (",
                                              std::strerror(errno), ")"));
  }
  if (open.st_dev == named.st_dev && open.st_ino == named.st_ino) return absl::OkStatus();
  return store::MemberVanished(path(),
                               "the directory in use was replaced, unmounted or mounted over");
}

absl::Status Member::LookAtMarks() const {
  const auto folder = root_.IsOpenAs(kConfigDirectory, config_.fd());
  const auto lock = config_.IsOpenAs(kLockFile, lock_.fd());
  const auto text = config_.KindOf(kLunFile);
  const bool gone = absl::IsNotFound(folder.status()) || absl::IsNotFound(lock.status()) ||
                    !folder.value_or(true) || !lock.value_or(true) ||
                    text.value_or(disk::EntryKind::kFile) != disk::EntryKind::kFile;
  if (!gone) return absl::OkStatus();
  return store::MemberVanished(path(), absl::StrCat("its LUN description, ", config_.path(),
                                                    ", was removed or replaced while in use"));
}

absl::Status Member::Look() {
  TD_RETURN_IF_ERROR(LookAtPath());
  TD_RETURN_IF_ERROR(LookAtMarks());
  return suspect_.exchange(false) ? TryToWrite(root_) : absl::OkStatus();
}

void Member::Stop() {
  threads_.io->Stop();
  threads_.sync->Stop();
  spares_.Stop();
}

// The uid was made by us or checked when the LUN was opened.
Member::Member(const services::Lun& lun, uint32_t number, disk::Directory root,
               disk::Directory config, disk::FileLock lock, Threads threads)
    : root_(std::move(root)),
      number_(number),
      lun_(format::Uuid::Parse(lun.recorded_uid()).value_or(format::Uuid())),
      config_(std::move(config)),
      lock_(std::move(lock)),
      spares_(lun, number),
      threads_(std::move(threads)) {}

}  // namespace tapedeck::storage_node::store::directory
