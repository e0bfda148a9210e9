// Files in a tar archive of POSIX (pax, IEEE Std 1003.1-2001), as far as SigMF's have them: regular
// files in one folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "services/files/input_file.h"

namespace tapedeck::services::formats {

inline constexpr uint64_t kTarBlockBytes = 512;
// Two empty blocks end an archive.
inline constexpr uint64_t kTarEndBytes = 2 * kTarBlockBytes;
inline constexpr size_t kMaxTarNameBytes = 100;  // without the folder

struct TarFile {
  std::string folder;  // of kMaxTarNameBytes at most
  std::string name;    // the same
  uint64_t bytes = 0;
};

// Whole blocks: the header, and where the size needs it an extended one before that.
std::string TarHeader(const TarFile& file);

// Behind a file of so many bytes.
inline uint64_t TarPadding(uint64_t bytes) {
  return (kTarBlockBytes - bytes % kTarBlockBytes) % kTarBlockBytes;
}

// A file in an archive.
struct TarEntry {
  std::string name;  // without the folder
  uint64_t begin = 0;
  uint64_t bytes = 0;
};

// The regular file at `*at` or behind that, which then is behind it; none: the archive ends.
// Reads what pax and GNU write. INVALID_ARGUMENT (FILE_INVALID).
absl::StatusOr<std::optional<TarEntry>> NextInTar(const files::InputFile& file, uint64_t* at);

}  // namespace tapedeck::services::formats
