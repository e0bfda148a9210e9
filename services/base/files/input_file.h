// The files that people name to be read. What is no regular file is refused before anything could
// wait for it: a FIFO for its writer, a device for its medium. Any thread that may wait for a disk.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/fd.h"

namespace tapedeck::services::files {

struct InputFile {
  std::string path;
  dataplane::Fd fd;
  uint64_t bytes = 0;
};

// NOT_FOUND (FILE_NOT_FOUND) or INVALID_ARGUMENT (FILE_INVALID).
absl::StatusOr<InputFile> OpenInput(const std::string& path);

// The same of what somebody else has opened with these flags, or could not open.
inline constexpr int kInputFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
absl::StatusOr<InputFile> InputOf(const std::string& path, dataplane::Fd fd);
absl::Status OpenFailed(const std::string& path, int error);

// The whole text of a small file. Same errors; INVALID_ARGUMENT (FILE_INVALID) if it has more than
// `most` bytes.
absl::StatusOr<std::string> ReadText(const std::string& path, uint64_t most);
absl::StatusOr<std::string> ReadText(const InputFile& file, uint64_t most);

}  // namespace tapedeck::services::files
