#include "services/formats/input.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/files/errors.h"

namespace tapedeck::services::formats {

absl::Status ReadExactly(const files::InputFile& file, uint64_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = pread(file.fd.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return files::Invalid(file.path, absl::StrCat("pread: ", std::strerror(errno)));
    if (got == 0) return files::Invalid(file.path, "it became shorter while being read");
    into = into.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadHeader(const files::InputFile& file, uint64_t offset,
                                       uint64_t bytes, const std::string& what) {
  if (offset > file.bytes || bytes > file.bytes - offset) {
    return files::Invalid(file.path, absl::StrCat("it ends within ", what));
  }
  std::string text(bytes, '\0');
  TD_RETURN_IF_ERROR(
      ReadExactly(file, offset, std::as_writable_bytes(std::span(text.data(), text.size()))));
  return text;
}

}  // namespace tapedeck::services::formats
