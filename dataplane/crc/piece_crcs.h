// The CRC32C of each piece of a payload: from these that of the whole follows without another look
// at the bytes, and damage is located to a piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"

namespace tapedeck::dataplane {

// Sixteen pieces are what all blocks up to 1 MiB have.
using PieceCrcs = absl::InlinedVector<uint32_t, 16>;

// The last piece may be shorter than `piece_bytes`.
PieceCrcs CrcOfPieces(std::span<const std::byte> payload, uint32_t piece_bytes);

// The same of a payload that comes by and by.
class GrowingCrcs {
 public:
  explicit GrowingCrcs(uint32_t piece_bytes) : piece_bytes_(piece_bytes) {}

  void Add(std::span<const std::byte> more);

  size_t bytes() const { return bytes_; }
  const PieceCrcs& pieces() const { return pieces_; }

 private:
  uint32_t piece_bytes_;
  size_t bytes_ = 0;
  PieceCrcs pieces_;
};

// The CRC32C of the whole payload, without touching it.
uint32_t JoinPieces(const PieceCrcs& pieces, uint64_t payload_bytes, uint32_t piece_bytes);

}  // namespace tapedeck::dataplane
