// The errors of files that people name. Each is marked as one of this process's own machine: the
// mark is no part of what a node is told, so that an error without it is one of another program.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::files {

inline constexpr char kHereUrl[] = "tapedeck.v1/Here";

inline bool IsHere(const absl::Status& status) { return status.GetPayload(kHereUrl).has_value(); }

// `status`, with that mark.
inline absl::Status Here(absl::Status status) {
  status.SetPayload(kHereUrl, absl::Cord());
  return status;
}

inline absl::Status NotFound(const std::string& path, absl::string_view call, int error) {
  const std::string text = absl::StrCat(call, " ", path, ": ", std::strerror(error));
  return Here(WithReason(absl::NotFoundError(text), "FILE_NOT_FOUND", {{"path", path}}));
}

inline absl::Status FileInvalid(const std::string& path, absl::string_view text) {
  return Here(WithReason(absl::InvalidArgumentError(text), "FILE_INVALID", {{"path", path}}));
}

inline absl::Status Invalid(const std::string& path, absl::string_view why) {
  return FileInvalid(path, absl::StrCat(path, ": ", why));
}

inline absl::Status FileExists(const std::string& path, absl::string_view text) {
  return Here(WithReason(absl::AlreadyExistsError(text), "FILE_EXISTS", {{"path", path}}));
}

inline absl::Status Exists(const std::string& path) {
  return FileExists(path, absl::StrCat(path, " already exists and was left as it is"));
}

inline absl::Status WriteFailed(const std::string& path, absl::string_view call, int error) {
  const std::string text = absl::StrCat(call, " ", path, ": ", std::strerror(error));
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return Here(WithReason(full ? absl::ResourceExhaustedError(text) : absl::InternalError(text),
                         "STORE_IO", {{"member", path}, {"operation", std::string(call)}}));
}

}  // namespace tapedeck::services::files
