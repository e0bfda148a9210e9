#include "storage_node/format/damage.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dataplane/crc/crc32c.h"

namespace tapedeck::storage_node::format {
namespace {

constexpr size_t kSectorBytes = 512;

// The polynomial of CRC32C, bits reversed.
constexpr uint32_t kPolynomial = 0x82f63b78;

// One piece that is not what it should be.
struct BadPiece {
  size_t number = 0;
  std::span<const std::byte> bytes;
  uint32_t difference = 0;  // found CRC XOR expected CRC
};

// Which bit of `bytes` bytes explains the difference of two CRCs: a CRC is linear, so one flipped
// bit changes it by a value that depends on the bit's place alone.
std::optional<uint64_t> FlippedBit(uint32_t difference, uint64_t bytes) {
  uint32_t change = kPolynomial;  // of the last bit
  for (uint64_t back = 1; back <= bytes * 8; ++back) {
    if (change == difference) return bytes * 8 - back;
    change = (change >> 1) ^ ((change & 1) != 0 ? kPolynomial : 0);
  }
  return std::nullopt;
}

std::vector<services::ByteRange> RangesOf(const std::vector<BadPiece>& bad, uint32_t piece_bytes) {
  std::vector<services::ByteRange> ranges;
  for (const BadPiece& piece : bad) {
    const uint64_t offset = uint64_t{piece.number} * piece_bytes;
    if (!ranges.empty() && ranges.back().offset + ranges.back().bytes == offset) {
      ranges.back().bytes += piece.bytes.size();
    } else {
      ranges.push_back({.offset = offset, .bytes = piece.bytes.size()});
    }
  }
  return ranges;
}

bool HasZeroSector(std::span<const std::byte> bytes) {
  size_t zeros = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % kSectorBytes == 0) zeros = 0;
    if (bytes[i] == std::byte{0}) ++zeros;
    if (zeros == kSectorBytes) return true;
  }
  return zeros == bytes.size();
}

// "byte 777 bit 4", for each piece; none if any piece has more than one flipped bit.
std::optional<std::string> FlippedBits(const std::vector<BadPiece>& bad, uint32_t piece_bytes) {
  std::string text;
  for (const BadPiece& piece : bad) {
    const auto bit = FlippedBit(piece.difference, piece.bytes.size());
    if (!bit.has_value()) return std::nullopt;
    absl::StrAppend(&text, text.empty() ? "" : ", ", "byte ", piece.number * piece_bytes + *bit / 8,
                    " bit ", *bit % 8);
  }
  return absl::StrCat("flipped: ", text);
}

std::vector<BadPiece> FindBadPieces(const PieceCrcs& expected, std::span<const std::byte> payload,
                                    uint32_t piece_bytes) {
  std::vector<BadPiece> bad;
  for (size_t i = 0; i * piece_bytes < payload.size(); ++i) {
    const auto rest = payload.subspan(i * piece_bytes);
    const auto piece = rest.first(std::min<size_t>(piece_bytes, rest.size()));
    const uint32_t difference = dataplane::Crc32c(piece) ^ (i < expected.size() ? expected[i] : 0);
    if (difference != 0) bad.push_back({.number = i, .bytes = piece, .difference = difference});
  }
  return bad;
}

}  // namespace

DamageKind KindOfReadError(const absl::Status& status) {
  return absl::IsOutOfRange(status) ? DamageKind::kTruncated : DamageKind::kIo;
}

DamageKind KindOfEntryError(const absl::Status& status) {
  return absl::IsAborted(status) ? DamageKind::kStale : DamageKind::kIndex;
}

Diagnosis Diagnose(const PieceCrcs& expected, std::span<const std::byte> payload,
                   uint32_t piece_bytes) {
  const std::vector<BadPiece> bad = FindBadPieces(expected, payload, piece_bytes);
  Diagnosis diagnosis{.ranges = RangesOf(bad, piece_bytes)};
  if (bad.empty()) return diagnosis;  // the entry contradicts itself
  const bool at_an_end = bad.front().number == 0 || bad.back().number + 1 == expected.size();
  if (const auto bits = FlippedBits(bad, piece_bytes); bits.has_value()) {
    diagnosis.detail = *bits;
  } else if (std::ranges::all_of(bad,
                                 [](const auto& piece) { return HasZeroSector(piece.bytes); })) {
    diagnosis.kind = DamageKind::kZeroed;
  } else if (bad.size() > 1 || at_an_end) {
    diagnosis.kind = DamageKind::kTorn;
  }
  return diagnosis;
}

}  // namespace tapedeck::storage_node::format
