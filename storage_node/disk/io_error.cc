#include "storage_node/disk/io_error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "services/errors.h"

namespace tapedeck::storage_node::disk {

absl::Status IoError(absl::string_view operation, absl::string_view where, absl::string_view member,
                     int error) {
  const std::string text = absl::StrCat(operation, " ", where, ": ", std::strerror(error));
  if (error == ENOSPC || error == EDQUOT) {
    return services::WithReason(
        absl::ResourceExhaustedError(absl::StrCat(text, "; the file system of member ", member,
                                                  " is full: delete recordings")),
        "LUN_FULL", {{"member", std::string(member)}});
  }
  return services::WithReason(
      absl::InternalError(absl::StrCat(text, " (errno ", error, "); check member ", member)),
      "STORE_IO", {{"member", std::string(member)}, {"operation", std::string(operation)}});
}

bool IsEndOfDisk(int error) {
  constexpr std::array kErrors = {ENOENT, ENOTDIR, ELOOP, ESTALE, ENODEV,
                                  ENXIO,  EIO,     EROFS, EUCLEAN};
  return std::ranges::find(kErrors, error) != kErrors.end();
}

}  // namespace tapedeck::storage_node::disk
