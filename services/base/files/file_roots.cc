#include "services/base/files/file_roots.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/base/files/root_path.h"

namespace tapedeck::services::files {

using dataplane::Fd;

namespace {

constexpr char kOption[] = "--file-root";

absl::Status Outside(const std::string& path, absl::string_view word, absl::string_view text) {
  return WithReason(absl::PermissionDeniedError(absl::StrCat(path, ": ", text)),
                    "FILE_OUTSIDE_ROOTS",
                    {{"path", path}, {"option", absl::StrCat(kOption, " ", word, ":DIR")}});
}

absl::Status NoOpenat2(int error) {
  return absl::FailedPreconditionError(
      absl::StrCat("openat2: ", std::strerror(error), ": ", kOption,
                   " needs Linux 5.6 or later, and in a container one that allows this call"));
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

// The innermost of the directories that the path lies beneath, and what is left of the path.
struct Found {
  absl::string_view directory;
  std::string rest;
};
std::optional<Found> Innermost(const std::vector<std::string>& directories,
                               const std::string& path) {
  std::optional<Found> found;
  for (const std::string& directory : directories) {
    const auto rest = PathBeneath(path, directory);
    if (!rest.has_value()) continue;
    if (found.has_value() && found->rest.size() <= rest->size()) continue;
    found = Found{directory, rest->empty() ? "." : std::string(*rest)};
  }
  return found;
}

// What keeps this process from using `path` as a directory: "is no directory"; empty: nothing.
std::string Hindrance(const std::string& path, int access_mode) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return absl::StrCat("stat: ", std::strerror(errno));
  if (!S_ISDIR(found.st_mode)) return "is not a directory";
  if (access(path.c_str(), access_mode) != 0) return absl::StrCat("access: ", std::strerror(errno));
  return "";
}

bool IsOfKernel(const std::string& path) {
  struct statfs found {};
  return statfs(path.c_str(), &found) == 0 &&
         (found.f_type == PROC_SUPER_MAGIC || found.f_type == SYSFS_MAGIC);
}

// Whoever renames on the way, or has a lease on the file, must not keep the caller for ever.
constexpr int kMostTries = 32;

}  // namespace

FileRoots FileRoots::Anywhere() {
  FileRoots roots;
  roots.anywhere_ = true;
  return roots;
}

absl::Status FileRoots::CheckText(const std::string& text) { return Parse({text}).status(); }

absl::StatusOr<FileRoots> FileRoots::Parse(const std::vector<std::string>& texts) {
  TD_RETURN_IF_ERROR(CheckRootCount(kOption, texts.size()));
  FileRoots roots;
  for (absl::string_view text : texts) {
    const bool reads = absl::ConsumePrefix(&text, "read:");
    if (!reads && !absl::ConsumePrefix(&text, "write:")) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text.substr(0, 80), "\" must be read:DIR or write:DIR"));
    }
    TD_RETURN_IF_ERROR(CheckRootPath(text));
    (reads ? roots.read_ : roots.write_).directories.emplace_back(text);
  }
  return roots;
}

absl::Status FileRoots::CheckKernel() const {
  if (read_.directories.empty() && write_.directories.empty()) return absl::OkStatus();
  const Fd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Fd same = OpenBeneath(root.get(), ".", O_PATH | O_DIRECTORY);
  return same.get() < 0 ? NoOpenat2(errno) : absl::OkStatus();
}

absl::StatusOr<InputFile> FileRoots::OpenInput(const std::string& path) const {
  if (anywhere_) return files::OpenInput(path);
  TD_ASSIGN_OR_RETURN(Fd fd, Open(read_, path, kInputFlags, path));
  return InputOf(path, std::move(fd));
}

absl::StatusOr<std::unique_ptr<PartFile>> FileRoots::CreatePart(const std::string& target,
                                                                bool replace) const {
  if (anywhere_) return PartFile::Create(target, replace);
  TD_ASSIGN_OR_RETURN(Fd folder,
                      Open(write_, FolderOf(target) + "/", O_RDONLY | O_DIRECTORY, target));
  return PartFile::CreateIn(std::move(folder), target, replace);
}

absl::StatusOr<Fd> FileRoots::Open(const Way& way, const std::string& path, int flags,
                                   const std::string& named) const {
  if (way.directories.empty()) {
    return Outside(
        named, way.word,
        absl::StrCat("this worker has no directory to ", way.verb, " for jobs; start it with ",
                     kOption, " ", way.word, ":", FolderOf(named)));
  }
  const bool absolute = absl::StartsWith(named, "/");
  const std::optional<Found> found =
      absolute ? Innermost(way.directories, path) : std::optional<Found>();
  if (!found.has_value()) {
    return Outside(named, way.word,
                   absl::StrCat("lies outside the directories that this worker may ", way.verb,
                                "; name a file beneath one of ",
                                absl::StrJoin(way.directories, ", ").substr(0, 1000),
                                ", by its absolute path, or start the worker with ", kOption, " ",
                                way.word, ":DIR, too"));
  }
  const Fd root(open(std::string(found->directory).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) {
    return NotFound(named, absl::StrCat("open ", found->directory, " for"), errno);
  }
  Fd fd = OpenBeneath(root.get(), found->rest, flags);
  if (fd.get() >= 0) return fd;
  if (errno == EXDEV || errno == ELOOP) {
    return Outside(named, way.word,
                   absl::StrCat("a link or \"..\" lies on the way from ", found->directory,
                                "; name the file where it is, beneath a directory of ", kOption));
  }
  if (errno == ENOSYS || errno == EPERM) return NoOpenat2(errno);
  return OpenFailed(named, errno);
}

std::string FileRoots::Described() const {
  if (anywhere_) return "any";
  std::vector<std::string> all;
  for (const Way* way : {&read_, &write_}) {
    for (const std::string& directory : way->directories) {
      all.push_back(absl::StrCat(way->word, ":", directory));
    }
  }
  return all.empty() ? "none" : absl::StrJoin(all, ", ");
}

std::string StateDirectoryOrParent(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) == 0 || errno != ENOENT) return path;
  return std::filesystem::absolute(path).lexically_normal().parent_path();
}

absl::Status CheckStateDirectory(const std::string& path) {
  const std::string used = StateDirectoryOrParent(path);
  const bool missing = used != path;
  const std::string why = Hindrance(used, R_OK | W_OK | X_OK);
  if (why.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "--state ", path, missing ? absl::StrCat(": it cannot be made: ", used) : "", ": ", why));
}

absl::Status CheckRootDirectory(const std::string& option, const std::string& path) {
  if (IsOfKernel(path)) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, " ", path, ": the kernel's own files lie there, and no others can"));
  }
  const std::string why = Hindrance(path, X_OK);
  if (why.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(option, " ", path, ": ", why));
}

dataplane::Fd OpenBeneath(int directory, const std::string& path, int flags, mode_t mode) {
  struct open_how how = {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (int i = 0; i < kMostTries; ++i) {
    const long fd = syscall(SYS_openat2, directory, path.c_str(), &how, sizeof(how));
    if (fd >= 0) return dataplane::Fd(static_cast<int>(fd));
    if (errno != EINTR && errno != EAGAIN) break;
  }
  return dataplane::Fd();
}

}  // namespace tapedeck::services::files
