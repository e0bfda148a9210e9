#include "services/files/directory_check.h"

#include <sys/stat.h>
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

}  // namespace

absl::Status CheckStateDirectory(const std::string& path) {
  struct stat found {};
  const bool missing = stat(path.c_str(), &found) != 0 && errno == ENOENT;
  const auto parent = std::filesystem::absolute(path).lexically_normal().parent_path();
  const std::string used = missing ? parent.string() : path;
  const std::string why = Hindrance(used, R_OK | W_OK | X_OK);
  if (why.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "--state ", path, missing ? absl::StrCat(": it cannot be made: ", used) : "", ": ", why));
}

absl::Status CheckRootDirectory(const std::string& option, const std::string& path) {
  const std::string why = Hindrance(path, X_OK);
  if (why.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(option, " ", path, ": ", why));
}

}  // namespace tapedeck::services::files
