#include "services/base/files/part_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>
#include <utility>

#include "absl/strings/str_format.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"

namespace tapedeck::services::files {
namespace {

// Names of 32 random bits are taken so seldom that a handful of tries is plenty.
constexpr int kNameTries = 16;

// In its folder.
absl::StatusOr<std::string> NameOf(const std::string& target) {
  const size_t slash = target.rfind('/');
  const std::string name = slash == std::string::npos ? target : target.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return Invalid(target, "is a folder");
  return name;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PartFile>> PartFile::Create(const std::string& target,
                                                           bool replace) {
  const size_t slash = target.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  TD_RETURN_IF_ERROR(NameOf(target).status());
  dataplane::Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) return NotFound(target, "open the folder of", errno);
  return CreateIn(std::move(fd), target, replace);
}

absl::StatusOr<std::unique_ptr<PartFile>> PartFile::CreateIn(dataplane::Fd folder,
                                                             const std::string& target,
                                                             bool replace) {
  TD_ASSIGN_OR_RETURN(std::string name, NameOf(target));
  auto part = std::unique_ptr<PartFile>(
      new PartFile(target, replace, {.folder = std::move(folder), .name = std::move(name)}));
  TD_RETURN_IF_ERROR(part->CheckTarget());
  TD_RETURN_IF_ERROR(part->Open());
  return part;
}

absl::Status PartFile::CheckTarget() {
  struct stat info = {};
  if (fstatat(place_.folder.get(), place_.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? absl::OkStatus() : NotFound(target_, "fstatat", errno);
  }
  if (S_ISLNK(info.st_mode)) return Invalid(target_, "is a link; give the path it leads to");
  if (!S_ISREG(info.st_mode)) return Invalid(target_, "exists and is not a regular file");
  if (!replace_) return Exists(target_);
  mode_ = info.st_mode & 0777;
  return absl::OkStatus();
}

absl::Status PartFile::Open() {
  std::random_device random;
  for (int i = 0; i < kNameTries; ++i) {
    const std::string suffix = absl::StrFormat(".part-%08x", static_cast<uint32_t>(random()));
    fd_ = dataplane::Fd(openat(place_.folder.get(), (place_.name + suffix).c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (fd_.get() < 0 && errno == EEXIST) continue;
    if (fd_.get() < 0) return NotFound(target_ + suffix, "open for writing", errno);
    name_ = place_.name + suffix;
    path_ = target_ + suffix;
    if (mode_ != 0 && fchmod(fd_.get(), mode_) != 0) return WriteFailed(path_, "fchmod", errno);
    return absl::OkStatus();
  }
  return WriteFailed(target_ + ".part-XXXXXXXX", "open for writing", EEXIST);
}

absl::Status PartFile::Publish() {
  if (fsync(fd_.get()) != 0) return WriteFailed(path_, "fsync", errno);
  TD_RETURN_IF_ERROR(Rename());
  name_.clear();
  if (fsync(place_.folder.get()) != 0) return WriteFailed(target_, "fsync the folder of", errno);
  return absl::OkStatus();
}

absl::Status PartFile::Rename() const {
  const int folder = place_.folder.get();
  const char* const from = name_.c_str();
  const char* const to = place_.name.c_str();
  int failed = renameat2(folder, from, folder, to, replace_ ? 0 : RENAME_NOREPLACE);
  if (failed != 0 && errno == EINVAL && !replace_) {
    // A file system without RENAME_NOREPLACE, as NFS: a second name is never put over a first.
    failed = linkat(folder, from, folder, to, 0);
    if (failed == 0) failed = unlinkat(folder, from, 0);
  }
  if (failed == 0) return absl::OkStatus();
  return errno == EEXIST ? Exists(target_) : WriteFailed(target_, "rename to", errno);
}

absl::Status PartFile::Keep() {
  name_.clear();
  if (fsync(fd_.get()) != 0 || fsync(place_.folder.get()) != 0) {
    return WriteFailed(path_, "fsync", errno);
  }
  return absl::OkStatus();
}

void PartFile::Remove() {
  if (name_.empty()) return;
  if (unlinkat(place_.folder.get(), name_.c_str(), 0) != 0 && errno != ENOENT) {
    dataplane::Log(dataplane::LogLevel::kWarning, "file", "could not remove an incomplete file",
                   {{"path", path_}, {"error", std::strerror(errno)}});
  }
  name_.clear();
}

}  // namespace tapedeck::services::files
