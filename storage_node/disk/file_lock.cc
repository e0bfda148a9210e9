#include "storage_node/disk/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::disk {
namespace {

constexpr int kTries = 5;
constexpr unsigned kPauseUs = 50'000;

// HolderText() is shorter.
constexpr uint64_t kMaxHolderBytes = 4096;

// The file is written over: what has another name may be somebody else's.
absl::Status CheckOneName(const Fd& fd, const std::string& path, const std::string& member) {
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return IoError("fstat", path, member, errno);
  if (status.st_nlink <= 1) return absl::OkStatus();
  return MemberUnusable(
      member, absl::StrCat("open ", path,
                           ": it is a hard link to another file, which a lock would overwrite; "
                           "remove it"));
}

}  // namespace

std::string HolderText() {
  char host[256] = "unknown";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat("pid ", getpid(), " on host ", host, "\n");
}

absl::Status InUse(const std::string& call, const std::string& holder, const std::string& member) {
  return MemberUnusable(member, absl::StrCat(call, ": in use by ", absl::StripSuffix(holder, "\n"),
                                             "; stop that process first"));
}

bool AwaitHolder(absl::FunctionRef<bool()> is_free) {
  for (int attempt = 0; !is_free(); ++attempt) {
    if (attempt == kTries) return false;
    usleep(kPauseUs);
  }
  return true;
}

absl::StatusOr<bool> LockFile(const Fd& fd, const std::string& path, const std::string& member) {
  int error = 0;
  const bool is_free = AwaitHolder([&] {
    error = flock(fd.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    return error != EWOULDBLOCK && error != EINTR;
  });
  if (is_free && error != 0) return IoError("flock", path, member, error);
  return is_free;
}

absl::StatusOr<std::string> HolderOf(const Directory& directory, const std::string& name) {
  const std::string path = directory.PathOf(name);
  TD_ASSIGN_OR_RETURN(const Fd fd, directory.OpenFile(name, O_RDONLY));
  if (flock(fd.get(), LOCK_SH | LOCK_NB) == 0) return "";
  if (errno != EWOULDBLOCK) return IoError("flock", path, directory.member(), errno);
  const std::string holder =
      ReadAll(fd, kMaxHolderBytes, path, directory.member()).value_or("unknown");
  return absl::StrCat("the process with ", absl::StripSuffix(holder, "\n"));
}

absl::StatusOr<FileLock> FileLock::Take(const std::string& path, const std::string& member) {
  const std::filesystem::path file = path;
  const std::string parent = file.parent_path().string();
  TD_ASSIGN_OR_RETURN(const Directory directory,
                      Directory::Open(parent.empty() ? "." : parent, member));
  return Take(directory, file.filename().string());
}

absl::StatusOr<FileLock> FileLock::Take(const Directory& directory, const std::string& name) {
  const std::string path = directory.PathOf(name);
  const std::string& member = directory.member();
  TD_ASSIGN_OR_RETURN(Fd fd, directory.OpenFile(name, O_RDWR | O_CREAT));
  TD_RETURN_IF_ERROR(CheckOneName(fd, path, member));
  TD_ASSIGN_OR_RETURN(const bool locked, LockFile(fd, path, member));
  if (!locked) {
    return InUse(absl::StrCat("flock ", path),
                 ReadAll(fd, kMaxHolderBytes, path, member).value_or("unknown"), member);
  }
  const std::string text = HolderText();
  if (ftruncate(fd.get(), 0) != 0) return IoError("ftruncate", path, member, errno);
  TD_RETURN_IF_ERROR(WriteAll(fd, std::as_bytes(std::span<const char>(text)), 0, path, member));
  return FileLock(std::move(fd));
}

}  // namespace tapedeck::storage_node::disk
