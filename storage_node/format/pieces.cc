#include "storage_node/format/pieces.h"

#include <algorithm>

namespace tapedeck::storage_node::format {
namespace {

constexpr uint64_t kUnit = 4096;
constexpr uint64_t kMaxPieceBytes = 64 << 10;

}  // namespace

uint32_t PieceBytesOf(uint64_t block_bytes) {
  const uint64_t sixteenth = (block_bytes / 16 + kUnit - 1) / kUnit * kUnit;
  return static_cast<uint32_t>(std::clamp(sixteenth, kUnit, kMaxPieceBytes));
}

}  // namespace tapedeck::storage_node::format
