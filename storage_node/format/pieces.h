// The pieces of a block's payload. The index keeps the CRC32C of each, so that damage is located to
// a piece and named by how the pieces look, not only found.
#pragma once

#include <cstdint>

#include "dataplane/crc/piece_crcs.h"

namespace tapedeck::storage_node::format {

using dataplane::CrcOfPieces;
using dataplane::JoinPieces;
using dataplane::PieceCrcs;

// A sixteenth of a block in whole pages of 4096 bytes, at most 64 KiB.
uint32_t PieceBytesOf(uint64_t block_bytes);

}  // namespace tapedeck::storage_node::format
