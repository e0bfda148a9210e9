// Records of an index: as they lie on a disk, and with the check values that they should have.
#include "storage_node/format/index.h"

#include <algorithm>
#include <array>

#include "dataplane/crc/crc32c.h"
#include "dataplane/little_endian.h"
#include "storage_node/format/block_check.h"
#include "storage_node/format/limits.h"
#include "tests/fuzz/input.h"

namespace tapedeck::storage_node::format {
namespace {

using dataplane::PutLittleEndian;

constexpr uint64_t kBlockSizes[] = {512, 4096, 64 << 10, 68 << 10, 1 << 20, 8 << 20};

constexpr uint64_t kMostUsedBytes = 4096;

void Mend(std::span<std::byte> record, uint32_t magic, uint64_t position) {
  PutLittleEndian(&record[0], magic);
  PutLittleEndian(&record[4], kIndexVersion);
  std::array<std::byte, 12> seed;
  PutLittleEndian(&seed[0], position);
  PutLittleEndian(&seed[8], uint32_t{0});
  PutLittleEndian(
      &record[record.size() - 4],
      dataplane::Crc32cExtend(dataplane::Crc32c(seed), record.first(record.size() - 4)));
}

// What a reader does with an entry that it believes.
void Use(const EntryFormat& format, const IndexEntry& entry) {
  fuzz::Require(entry.payload_bytes <= format.block_bytes);
  fuzz::Require(entry.pieces.size() * sizeof(uint32_t) < format.entry_bytes);
  if (format.block_bytes > kMostUsedBytes) return;  // larger ones only cost time
  const std::vector<std::byte> slot(format.block_bytes);
  const auto payload = std::span(slot).first(entry.payload_bytes);
  (void)CheckBlock({}, entry.sequence, {}, entry, format.piece_bytes, payload);
}

void TryEntry(fuzz::Input& input) {
  const EntryFormat format =
      EntryFormat::Of(kBlockSizes[input.Number<uint8_t>() % std::size(kBlockSizes)], 0);
  std::vector<std::byte> bytes = input.Padded(format.entry_bytes);
  const auto sequence = dataplane::GetLittleEndian<uint64_t>(&bytes[8]);
  (void)format.Decode(bytes, sequence, 0).ok();
  Mend(bytes, 0x45494454, format.Offset(sequence));
  const auto entry = format.Decode(bytes, sequence, 0);
  if (!entry.ok()) return;
  Use(format, *entry);
  std::vector<std::byte> again(format.entry_bytes);
  format.Encode(*entry, 0, again);
  fuzz::Require(*format.Decode(again, sequence, 0) == *entry);
}

void TryPages(fuzz::Input& input) {
  Page page;
  std::ranges::copy(input.Padded(kPageBytes), page.begin());
  (void)DecodeHeader(page, 0).ok();
  Mend(page, 0x58494454, 0);
  if (const auto header = DecodeHeader(page, 0); header.ok()) {
    fuzz::Require(IsBlockSize(header->block_bytes) && header->members <= kMaxMembers);
    fuzz::Require(*DecodeHeader(EncodeHeader(*header, 0), 0) == *header);
  }
  Uuid uuid;
  std::copy_n(&page[8], 16, uuid.bytes.begin());
  for (const uint64_t parity : {0, 1}) {
    Mend(page, 0x4d574454, WatermarkOffset(parity));
    const auto watermark = DecodeWatermark(page, uuid, parity, 0);
    if (watermark.ok()) fuzz::Require(watermark->generation + 1 > watermark->generation);
  }
}

}  // namespace
}  // namespace tapedeck::storage_node::format

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tapedeck::fuzz::Input input(data, size);
  if (input.Number<uint8_t>() % 2 == 0) {
    tapedeck::storage_node::format::TryEntry(input);
  } else {
    tapedeck::storage_node::format::TryPages(input);
  }
  return 0;
}
