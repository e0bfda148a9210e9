// The errors of files that people name.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "services/errors.h"

namespace tapedeck::services::files {

inline absl::Status NotFound(const std::string& path, absl::string_view call, int error) {
  return WithReason(absl::NotFoundError(absl::StrCat(call, " ", path, ": ", std::strerror(error))),
                    "FILE_NOT_FOUND", {{"path", path}});
}

inline absl::Status FileInvalid(const std::string& path, absl::string_view text) {
  return WithReason(absl::InvalidArgumentError(text), "FILE_INVALID", {{"path", path}});
}

inline absl::Status Invalid(const std::string& path, absl::string_view why) {
  return FileInvalid(path, absl::StrCat(path, ": ", why));
}

inline absl::Status Exists(const std::string& path) {
  return WithReason(
      absl::AlreadyExistsError(absl::StrCat(path, " is there already and was left as it is")),
      "FILE_EXISTS", {{"path", path}});
}

inline absl::Status WriteFailed(const std::string& path, absl::string_view call, int error) {
  const std::string text = absl::StrCat(call, " ", path, ": ", std::strerror(error));
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return WithReason(full ? absl::ResourceExhaustedError(text) : absl::InternalError(text),
                    "STORE_IO", {{"member", path}, {"operation", std::string(call)}});
}

}  // namespace tapedeck::services::files
