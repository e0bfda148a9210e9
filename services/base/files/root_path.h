// Directories that options name, beneath which something has to lie. By their names alone: what
// links and ".." lead to is for whoever opens it. Any thread.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace tapedeck::services::files {

// Of one option.
inline constexpr size_t kMaxRoots = 64;
inline constexpr size_t kMaxRootBytes = 4096;  // PATH_MAX

// INVALID_ARGUMENT.
inline absl::Status CheckRootPath(absl::string_view directory) {
  if (!directory.empty() && directory[0] == '/' && directory.size() <= kMaxRootBytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", directory.substr(0, 80), "\" is not an absolute path of a directory"));
}

// INVALID_ARGUMENT: an option that may be given kMaxRoots times was given more often.
inline absl::Status CheckRootCount(absl::string_view option, size_t count) {
  if (count <= kMaxRoots) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(option, " is given ", count, " times; ", kMaxRoots, " are allowed"));
}

// What is left of an absolute path beneath a directory, "a/b" of /root/a/b; none of one that does
// not lie there.
inline std::optional<absl::string_view> PathBeneath(absl::string_view path,
                                                    absl::string_view directory) {
  while (absl::ConsumeSuffix(&directory, "/")) {
  }
  if (!absl::ConsumePrefix(&path, directory) || !absl::ConsumePrefix(&path, "/")) {
    return std::nullopt;
  }
  while (absl::ConsumePrefix(&path, "/")) {
  }
  return path;
}

}  // namespace tapedeck::services::files
