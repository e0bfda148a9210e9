// The pieces of a block's payload. The index keeps the CRC32C of each, so that damage is located to
// a piece and named by how the pieces look, not only found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"

namespace tapedeck::storage_node::format {

// Sixteen pieces are what all blocks up to 1 MiB have.
using PieceCrcs = absl::InlinedVector<uint32_t, 16>;

// A sixteenth of a block in whole pages of 4096 bytes, at most 64 KiB.
uint32_t PieceBytesOf(uint64_t block_bytes);

// The last piece may be shorter than `piece_bytes`.
PieceCrcs CrcOfPieces(std::span<const std::byte> payload, uint32_t piece_bytes);

// The CRC32C of the whole payload, without touching it.
uint32_t JoinPieces(const PieceCrcs& pieces, uint64_t payload_bytes, uint32_t piece_bytes);

}  // namespace tapedeck::storage_node::format
