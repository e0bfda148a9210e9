// Local binary patterns: of each pixel, which of its eight neighbours are at least as bright; and
// how often each pattern is in each cell of a photo. C++17, for nvcc and for g++.
#pragma once

#include <cstdint>

#include "gpu_worker/sockets/block.h"
#include "tests/gpu_worker/sockets/applications/own_memory.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr uint32_t kPhotoSide = 64;  // grey, a byte for each pixel, row by row
inline constexpr uint32_t kPhotoBytes = kPhotoSide * kPhotoSide;
inline constexpr uint32_t kCellSide = 16;
inline constexpr uint32_t kCellsOfARow = kPhotoSide / kCellSide;
inline constexpr uint32_t kPatterns = 256;
inline constexpr uint32_t kPatternCounts = kCellsOfARow * kCellsOfARow * kPatterns;

struct Patterns {
  uint32_t counts[kPatternCounts];  // cell by cell
};

// Of a pixel that is not at the border. Bit 0 is the neighbour to the upper left; the others follow
// clockwise.
TAPEDECK_ANYWHERE uint32_t PatternOf(const unsigned char* photo, uint32_t x, uint32_t y) {
  const unsigned char* const at = photo + y * kPhotoSide + x;
  const unsigned char* const above = at - kPhotoSide;
  const unsigned char* const below = at + kPhotoSide;
  const unsigned char own = *at;
  return (above[-1] >= own ? 1u : 0u) | (above[0] >= own ? 2u : 0u) | (above[1] >= own ? 4u : 0u) |
         (at[1] >= own ? 8u : 0u) | (below[1] >= own ? 16u : 0u) | (below[0] >= own ? 32u : 0u) |
         (below[-1] >= own ? 64u : 0u) | (at[-1] >= own ? 128u : 0u);
}

// By all lanes; `out` lies in memory of the device. A barrier, too.
TAPEDECK_ANYWHERE void CountPatterns(const unsigned char* photo, Patterns& out) {
  SyncBlock();
  for (uint32_t i = LaneOfBlock(); i < kPatternCounts; i += LanesOfBlock()) out.counts[i] = 0;
  SyncBlock();
  for (uint32_t i = LaneOfBlock(); i < kPhotoBytes; i += LanesOfBlock()) {
    const uint32_t x = i % kPhotoSide;
    const uint32_t y = i / kPhotoSide;
    if (x == 0 || y == 0 || x == kPhotoSide - 1 || y == kPhotoSide - 1) continue;
    const uint32_t cell = y / kCellSide * kCellsOfARow + x / kCellSide;
    AddOwn(&out.counts[cell * kPatterns + PatternOf(photo, x, y)], 1u);
  }
  SyncBlock();
}

// Chi-square in 1024ths, each term rounded down, so that each machine comes to the same number. By
// all lanes, for all; `sum` lies in memory of the device. A barrier, too.
TAPEDECK_ANYWHERE uint64_t DistanceOf(const Patterns& a, const Patterns& b, uint64_t* sum) {
  if (IsFirstLane()) *sum = 0;
  SyncBlock();
  uint64_t mine = 0;
  for (uint32_t i = LaneOfBlock(); i < kPatternCounts; i += LanesOfBlock()) {
    const uint32_t both = a.counts[i] + b.counts[i];
    const uint32_t apart =
        a.counts[i] > b.counts[i] ? a.counts[i] - b.counts[i] : b.counts[i] - a.counts[i];
    if (both > 0) mine += apart * apart * 1024 / both;
  }
  AddOwn(sum, mine);
  SyncBlock();
  const uint64_t out = *sum;
  SyncBlock();
  return out;
}

}  // namespace tapedeck::gpu_worker::sockets
