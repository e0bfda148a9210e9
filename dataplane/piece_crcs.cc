#include "dataplane/piece_crcs.h"

#include <algorithm>

#include "dataplane/crc32c.h"

namespace tapedeck::dataplane {

PieceCrcs CrcOfPieces(std::span<const std::byte> payload, uint32_t piece_bytes) {
  PieceCrcs pieces;
  while (!payload.empty()) {
    const auto piece = payload.first(std::min<size_t>(piece_bytes, payload.size()));
    pieces.push_back(Crc32c(piece));
    payload = payload.subspan(piece.size());
  }
  return pieces;
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
