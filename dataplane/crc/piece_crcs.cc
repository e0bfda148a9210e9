#include "dataplane/crc/piece_crcs.h"

#include <algorithm>

#include "dataplane/crc/crc32c.h"

namespace tapedeck::dataplane {

PieceCrcs CrcOfPieces(std::span<const std::byte> payload, uint32_t piece_bytes) {
  GrowingCrcs crcs(piece_bytes);
  crcs.Add(payload);
  return crcs.pieces();
}

void GrowingCrcs::Add(std::span<const std::byte> more) {
  while (!more.empty()) {
    const size_t in_piece = bytes_ % piece_bytes_;
    if (in_piece == 0) pieces_.push_back(0);
    const auto part = more.first(std::min(piece_bytes_ - in_piece, more.size()));
    pieces_.back() = Crc32cExtend(pieces_.back(), part);
    bytes_ += part.size();
    more = more.subspan(part.size());
  }
}

uint32_t JoinPieces(const PieceCrcs& pieces, uint64_t payload_bytes, uint32_t piece_bytes) {
  uint32_t crc = 0;
  for (const uint32_t piece : pieces) {
    const uint64_t bytes = std::min<uint64_t>(piece_bytes, payload_bytes);
    crc = Crc32cCombine(crc, piece, bytes);
    payload_bytes -= bytes;
  }
  return crc;
}

}  // namespace tapedeck::dataplane
