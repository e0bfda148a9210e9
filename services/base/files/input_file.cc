#include "services/base/files/input_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"

namespace tapedeck::services::files {

absl::Status OpenFailed(const std::string& path, int error) {
  // What cannot be opened for reading without a peer: a socket.
  if (error == ENXIO) return Invalid(path, "is not a regular file");
  return NotFound(path, "open", error);
}

absl::StatusOr<InputFile> OpenInput(const std::string& path) {
  dataplane::Fd fd(open(path.c_str(), kInputFlags));
  if (fd.get() < 0) return OpenFailed(path, errno);
  return InputOf(path, std::move(fd));
}

absl::StatusOr<InputFile> InputOf(const std::string& path, dataplane::Fd fd) {
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0) return NotFound(path, "fstat", errno);
  if (!S_ISREG(info.st_mode)) return Invalid(path, "is not a regular file");
  return InputFile{path, std::move(fd), static_cast<uint64_t>(info.st_size)};
}

absl::StatusOr<std::string> ReadText(const std::string& path, uint64_t most) {
  TD_ASSIGN_OR_RETURN(const InputFile file, OpenInput(path));
  return ReadText(file, most);
}

absl::StatusOr<std::string> ReadText(const InputFile& file, uint64_t most) {
  if (file.bytes > most) {
    return Invalid(file.path, absl::StrCat("has more than ", most, " bytes"));
  }
  std::string text(file.bytes, '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = read(file.fd.get(), text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return NotFound(file.path, "read", errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  text.resize(done);
  return text;
}

}  // namespace tapedeck::services::files
