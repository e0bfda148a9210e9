#include "storage_node/disk/io_error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::disk {

absl::Status IoError(absl::string_view operation, absl::string_view where, absl::string_view member,
                     int error) {
  const std::string text = absl::StrCat(operation, " ", where, ": ", std::strerror(error));
  if (error == ENOSPC || error == EDQUOT) {
    return MemberFull(member, absl::StrCat(text, "; the file system of member ", member,
                                           " is full: delete recordings"));
  }
  return StoreIo(member, operation,
                 absl::StrCat(text, " (errno ", error, "); check member ", member));
}

bool IsEndOfDisk(int error) {
  constexpr std::array kErrors = {ENOENT, ENOTDIR, ELOOP, ESTALE, ENODEV,
                                  ENXIO,  EIO,     EROFS, EUCLEAN};
  return std::ranges::find(kErrors, error) != kErrors.end();
}

}  // namespace tapedeck::storage_node::disk
