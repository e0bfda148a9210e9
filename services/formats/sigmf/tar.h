// Files in a tar archive of POSIX (pax, IEEE Std 1003.1-2001), as they are written here: regular
// files in one folder. archive.h reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tapedeck::services::formats {

// Fields of a header, by their offsets.
inline constexpr size_t kTarName = 0;
inline constexpr size_t kTarMode = 100;
inline constexpr size_t kTarUser = 108;
inline constexpr size_t kTarGroup = 116;
inline constexpr size_t kTarSize = 124;  // 12 bytes
inline constexpr size_t kTarTime = 136;
inline constexpr size_t kTarSum = 148;  // 8 bytes: of all bytes, these as blanks
inline constexpr size_t kTarType = 156;
inline constexpr size_t kTarMagic = 257;
inline constexpr size_t kTarPrefix = 345;

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

}  // namespace tapedeck::services::formats
