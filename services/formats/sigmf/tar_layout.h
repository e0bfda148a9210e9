// Fields of a header in a tar archive, by their offsets. Of this room alone.
#pragma once

#include <cstddef>

namespace tapedeck::services::formats {

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

}  // namespace tapedeck::services::formats
