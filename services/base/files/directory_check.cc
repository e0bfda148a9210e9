#include "services/base/files/directory_check.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::files {
namespace {

// What keeps this process from using `path` as a directory: "is no directory"; empty: nothing.
std::string Hindrance(const std::string& path, int access_mode) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return absl::StrCat("stat: ", std::strerror(errno));
  if (!S_ISDIR(found.st_mode)) return "is no directory";
  if (access(path.c_str(), access_mode) != 0) return absl::StrCat("access: ", std::strerror(errno));
  return "";
}

bool IsOfKernel(const std::string& path) {
  struct statfs found {};
  return statfs(path.c_str(), &found) == 0 &&
         (found.f_type == PROC_SUPER_MAGIC || found.f_type == SYSFS_MAGIC);
}

}  // namespace

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

}  // namespace tapedeck::services::files
