// How far the blocks of a recording in parts may be from their order in the stream.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tapedeck::services::parts {

// Bounds what joining parts may have to hold in memory: 256 MiB.
inline constexpr uint64_t kReorderWindowBytes = 256 << 20;
inline constexpr uint64_t kMaxReorderWindow = 256;
inline constexpr uint64_t kMinReorderWindow = 16;

// While block n is not acknowledged, none is dealt from n plus this on. So in each part all that
// comes before block n is below n plus this: a part that has given that one gives no n any more. It
// is part of what recordings on disks are, and stays as it is.
constexpr uint64_t ReorderWindowOf(uint64_t block_bytes) {
  return std::clamp<uint64_t>(kReorderWindowBytes / std::max<uint64_t>(block_bytes, 1),
                              kMinReorderWindow, kMaxReorderWindow);
}

}  // namespace tapedeck::services::parts
