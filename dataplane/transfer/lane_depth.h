// How many blocks a session has out at the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tapedeck::dataplane {

// Blocks that may be out on one of a session's `lanes` links at the same time: granted, posted,
// announced or being pulled. Two blocks of 1 MiB fill a 25GbE wire (bandwidth × delay at 10 µs is
// 31 KB); 8 MiB ride out the scheduling of the peer's threads: with 4 MiB they sleep twice as
// often. More would only push the working set out of the cache, so what a session has out on all of
// its links is bounded, too.
inline constexpr size_t kMaxLaneDepth = 64;
constexpr size_t LaneDepth(uint64_t block_bytes, size_t lanes) {
  const uint64_t bytes = std::max<uint64_t>(block_bytes, 1);
  const uint64_t alone = std::clamp<uint64_t>((8 << 20) / bytes, 4, kMaxLaneDepth);
  const uint64_t session = std::max<uint64_t>((32 << 20) / bytes, 8);
  return std::clamp<uint64_t>(session / std::max<size_t>(lanes, 1), 2, alone);
}

}  // namespace tapedeck::dataplane
