#include "storage_node/disk/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <span>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/disk/fd.h"

namespace tapedeck::storage_node::disk {
namespace {

constexpr mode_t kNewDirectory = 0750;

EntryKind KindOfMode(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::kFile;
  return S_ISDIR(mode) ? EntryKind::kDirectory : EntryKind::kOther;
}

const char* NameOfMode(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a file";
    case S_IFDIR:
      return "a directory";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

// What the kernel says where a name is not of the kind that was asked for.
bool IsOfAnotherKind(int error) {
  return error == ELOOP || error == ENOTDIR || error == EISDIR || error == ENXIO || error == EXDEV;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

}  // namespace

absl::StatusOr<Directory> Directory::Open(const std::string& path, const std::string& member) {
  TD_ASSIGN_OR_RETURN(Fd fd, disk::Open(path, O_RDONLY | O_DIRECTORY, member));
  return Directory(std::move(fd), path, member);
}

std::string Directory::PathOf(absl::string_view name) const {
  return absl::StrCat(path_, "/", name);
}

absl::Status Directory::NotOurs(absl::string_view call, const std::string& name) const {
  struct stat status;
  const bool known = fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  return MemberUnusable(member_, absl::StrCat(call, " ", PathOf(name), ": ",
                                              known ? NameOfMode(status.st_mode) : "a link",
                                              " lies there that Tapedeck did not make; the node "
                                              "neither follows nor changes it; move it elsewhere"));
}

absl::Status Directory::Failed(absl::string_view call, const std::string& name, int error) const {
  if (error == ENOENT) {
    return absl::NotFoundError(absl::StrCat(call, " ", PathOf(name), ": no such file"));
  }
  return IsOfAnotherKind(error) ? NotOurs(call, name) : IoError(call, PathOf(name), member_, error);
}

absl::StatusOr<Directory> Directory::OpenDirectory(const std::string& name) const {
  dataplane::MayWait("the disk");
  Fd fd = OpenBeneath(fd_.get(), name, O_RDONLY | O_DIRECTORY);
  if (fd.get() < 0) return Failed("open", name, errno);
  return Directory(std::move(fd), PathOf(name), member_);
}

absl::StatusOr<Directory> Directory::MakeDirectory(const std::string& name) const {
  const absl::Status made = MakeNewDirectory(name);
  if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
  return OpenDirectory(name);
}

absl::Status Directory::MakeNewDirectory(const std::string& name) const {
  dataplane::MayWait("the disk");
  if (mkdirat(fd_.get(), name.c_str(), kNewDirectory) == 0) return absl::OkStatus();
  if (errno == EEXIST) return absl::AlreadyExistsError(absl::StrCat("mkdir ", PathOf(name)));
  return IoError("mkdir", PathOf(name), member_, errno);
}

absl::StatusOr<Fd> Directory::OpenFile(const std::string& name, int flags) const {
  // To open a device may do something, and a FIFO keeps whoever opens it waiting.
  TD_ASSIGN_OR_RETURN(const EntryKind kind, KindOf(name));
  if (kind != EntryKind::kNone && kind != EntryKind::kFile) return NotOurs("open", name);
  Fd fd = OpenBeneath(fd_.get(), name, flags | O_NONBLOCK);
  if (fd.get() < 0) return Failed("open", name, errno);
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return IoError("fstat", PathOf(name), member_, errno);
  if (!S_ISREG(status.st_mode)) return NotOurs("open", name);
  // io_uring would give up where a transfer has to wait.
  const int now = fcntl(fd.get(), F_GETFL);
  if (now < 0 || fcntl(fd.get(), F_SETFL, now & ~O_NONBLOCK) != 0) {
    return IoError("fcntl", PathOf(name), member_, errno);
  }
  return fd;
}

absl::StatusOr<std::string> Directory::ReadFile(const std::string& name, uint64_t most) const {
  TD_ASSIGN_OR_RETURN(const Fd fd, OpenFile(name, O_RDONLY));
  return ReadAll(fd, most, PathOf(name), member_);
}

absl::Status Directory::WriteFile(const std::string& name, absl::string_view text) const {
  TD_ASSIGN_OR_RETURN(const EntryKind kind, KindOf(name));
  if (kind != EntryKind::kNone && kind != EntryKind::kFile) return NotOurs("rename", name);
  const std::string temporary = absl::StrCat(name, ".new");
  // What a crash left there goes with its name: another name of the same file may be somebody's.
  TD_RETURN_IF_ERROR(RemoveFile(temporary).status());
  TD_ASSIGN_OR_RETURN(const Fd fd, OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL));
  const auto bytes = std::as_bytes(std::span<const char>(text.data(), text.size()));
  absl::Status status = WriteAll(fd, bytes, 0, PathOf(temporary), member_);
  if (status.ok() && fsync(fd.get()) != 0) {
    status = IoError("fsync", PathOf(temporary), member_, errno);
  }
  if (status.ok() && renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()) != 0) {
    status = IoError("rename", PathOf(name), member_, errno);
  }
  if (!status.ok()) {
    RemoveFile(temporary).IgnoreError();  // the next writing replaces it
    return status;
  }
  return Sync();
}

absl::StatusOr<EntryKind> Directory::KindOf(const std::string& name) const {
  dataplane::MayWait("the disk");
  struct stat status;
  if (fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    return KindOfMode(status.st_mode);
  }
  if (errno == ENOENT) return EntryKind::kNone;
  return IoError("fstatat", PathOf(name), member_, errno);
}

absl::StatusOr<bool> Directory::IsOpenAs(const std::string& name, int fd) const {
  dataplane::MayWait("the disk");
  struct stat named, open;
  if (fstatat(fd_.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) {
    return Failed("fstatat", name, errno);
  }
  if (fstat(fd, &open) != 0) return IoError("fstat", PathOf(name), member_, errno);
  return named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

absl::StatusOr<std::vector<Entry>> Directory::List() const {
  dataplane::MayWait("the disk");
  // A descriptor of its own: its place in the list is shared with nobody.
  Fd own = OpenBeneath(fd_.get(), ".", O_RDONLY | O_DIRECTORY);
  const std::unique_ptr<DIR, CloseDirectory> directory(own.get() < 0 ? nullptr
                                                                     : fdopendir(own.get()));
  if (directory == nullptr) return IoError("opendir", path_, member_, errno);
  own.Release();
  std::vector<Entry> entries;
  for (errno = 0; const dirent* entry = readdir(directory.get()); errno = 0) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    EntryKind kind = KindOfMode(DTTOIF(entry->d_type));
    if (entry->d_type == DT_UNKNOWN) {
      TD_ASSIGN_OR_RETURN(kind, KindOf(name));
    }
    if (kind != EntryKind::kNone) entries.push_back({.name = name, .kind = kind});
  }
  if (errno != 0) return IoError("readdir", path_, member_, errno);
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

absl::Status Directory::AddName(const std::string& file, const std::string& name) const {
  dataplane::MayWait("the disk");
  if (linkat(fd_.get(), file.c_str(), fd_.get(), name.c_str(), 0) == 0) return absl::OkStatus();
  const std::string what = absl::StrCat("link ", PathOf(name));
  if (errno == EEXIST) return absl::AlreadyExistsError(what);
  if (errno == ENOENT) return absl::NotFoundError(what);
  if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK) {
    return absl::UnimplementedError(what);
  }
  return IoError("link", PathOf(name), member_, errno);
}

absl::Status Directory::Rename(const std::string& from, const Directory& into,
                               const std::string& to) const {
  dataplane::MayWait("the disk");
  int result = renameat2(fd_.get(), from.c_str(), into.fd(), to.c_str(), RENAME_NOREPLACE);
  if (result != 0 && (errno == EINVAL || errno == ENOSYS)) {  // a file system without it
    TD_ASSIGN_OR_RETURN(const EntryKind there, into.KindOf(to));
    errno = EEXIST;
    if (there == EntryKind::kNone) {
      result = renameat(fd_.get(), from.c_str(), into.fd(), to.c_str());
    }
  }
  if (result == 0) return absl::OkStatus();
  if (errno == EEXIST) return absl::AlreadyExistsError(absl::StrCat("rename ", into.PathOf(to)));
  if (errno == ENOENT) return absl::NotFoundError(absl::StrCat("rename ", PathOf(from)));
  return IoError("rename", PathOf(from), member_, errno);
}

absl::StatusOr<bool> Directory::RemoveFile(const std::string& name) const {
  TD_ASSIGN_OR_RETURN(const EntryKind kind, KindOf(name));
  if (kind != EntryKind::kFile) return false;
  if (unlinkat(fd_.get(), name.c_str(), 0) == 0) return true;
  return IoError("unlink", PathOf(name), member_, errno);
}

absl::StatusOr<bool> Directory::IsLink(const std::string& name, const std::string& target) const {
  dataplane::MayWait("the disk");
  std::string text(target.size() + 1, '\0');
  const ssize_t bytes = readlinkat(fd_.get(), name.c_str(), text.data(), text.size());
  if (bytes >= 0) return text.substr(0, static_cast<size_t>(bytes)) == target;
  if (errno == ENOENT || errno == EINVAL) return false;  // EINVAL: it is no link
  return IoError("readlink", PathOf(name), member_, errno);
}

absl::Status Directory::MakeLink(const std::string& name, const std::string& target) const {
  dataplane::MayWait("the disk");
  if (symlinkat(target.c_str(), fd_.get(), name.c_str()) == 0) return absl::OkStatus();
  if (errno != EEXIST) return IoError("symlink", PathOf(name), member_, errno);
  TD_ASSIGN_OR_RETURN(const bool there, IsLink(name, target));
  return there ? absl::OkStatus() : NotOurs("symlink", name);
}

absl::StatusOr<bool> Directory::RemoveLink(const std::string& name,
                                           const std::string& target) const {
  TD_ASSIGN_OR_RETURN(const bool there, IsLink(name, target));
  if (!there) return false;
  if (unlinkat(fd_.get(), name.c_str(), 0) == 0) return true;
  return IoError("unlink", PathOf(name), member_, errno);
}

absl::StatusOr<bool> Directory::RemoveEmpty(const std::string& name) const {
  dataplane::MayWait("the disk");
  if (unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR) == 0) return true;
  if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR || errno == ENOENT) return false;
  return IoError("rmdir", PathOf(name), member_, errno);
}

absl::Status Directory::Sync() const {
  dataplane::MayWait("the disk");
  if (fsync(fd_.get()) != 0) return IoError("fsync", path_, member_, errno);
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::disk
