// The pieces of a block's payload. The index keeps the CRC32C of each, so that damage is located to
// a piece and named by how the pieces look, not only found.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/crc/piece_crcs.h"

namespace tapedeck::storage_node::format {

using dataplane::CrcOfPieces;
using dataplane::JoinPieces;
using dataplane::PieceCrcs;

// A sixteenth of a block in whole pages of 4096 bytes, at most 64 KiB.
constexpr uint32_t PieceBytesOf(uint64_t block_bytes) {
  constexpr uint64_t kUnit = 4096;
  const uint64_t sixteenth = (block_bytes / 16 + kUnit - 1) / kUnit * kUnit;
  return static_cast<uint32_t>(std::clamp<uint64_t>(sixteenth, kUnit, 64 << 10));
}

}  // namespace tapedeck::storage_node::format
