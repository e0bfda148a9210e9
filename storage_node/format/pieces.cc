#include "storage_node/format/pieces.h"

#include <algorithm>

#include "dataplane/crc32c.h"

namespace tapedeck::storage_node::format {
namespace {

constexpr uint64_t kUnit = 4096;
constexpr uint64_t kMaxPieceBytes = 64 << 10;

}  // namespace

uint32_t PieceBytesOf(uint64_t block_bytes) {
  const uint64_t sixteenth = (block_bytes / 16 + kUnit - 1) / kUnit * kUnit;
  return static_cast<uint32_t>(std::clamp(sixteenth, kUnit, kMaxPieceBytes));
}

PieceCrcs CrcOfPieces(std::span<const std::byte> payload, uint32_t piece_bytes) {
  PieceCrcs pieces;
  while (!payload.empty()) {
    const auto piece = payload.first(std::min<size_t>(piece_bytes, payload.size()));
    pieces.push_back(dataplane::Crc32c(piece));
    payload = payload.subspan(piece.size());
  }
  return pieces;
}

uint32_t JoinPieces(const PieceCrcs& pieces, uint64_t payload_bytes, uint32_t piece_bytes) {
  uint32_t crc = 0;
  for (const uint32_t piece : pieces) {
    const uint64_t bytes = std::min<uint64_t>(piece_bytes, payload_bytes);
    crc = dataplane::Crc32cCombine(crc, piece, bytes);
    payload_bytes -= bytes;
  }
  return crc;
}

}  // namespace tapedeck::storage_node::format
