#include "storage_node/format/index.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/block/block.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/little_endian.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::format {

using dataplane::GetLittleEndian;
using dataplane::PutLittleEndian;
namespace {

constexpr uint32_t kEntryMagic = 0x45494454;      // "TDIE"
constexpr uint32_t kHeaderMagic = 0x58494454;     // "TDIX"
constexpr uint32_t kWatermarkMagic = 0x4d574454;  // "TDWM"
constexpr size_t kPiecesOffset = 52;              // in an entry
constexpr size_t kTextLengthOffset = 56;          // in the header
constexpr size_t kTextOffset = 60;
constexpr size_t kRecordCrcBytes = 4;
static_assert(kTextOffset + kMaxHeaderManifestBytes + kRecordCrcBytes == kPageBytes);

// The CRC of everything but the record's last four bytes, which hold it.
uint32_t RecordCrc(std::span<const std::byte> record, uint64_t position, uint32_t copy) {
  std::array<std::byte, 12> seed;
  PutLittleEndian(&seed[0], position);
  PutLittleEndian(&seed[8], copy);
  return dataplane::Crc32cExtend(dataplane::Crc32c(seed), record.first(record.size() - 4));
}

void Seal(std::span<std::byte> record, uint64_t position, uint32_t copy) {
  PutLittleEndian(&record[record.size() - 4], RecordCrc(record, position, copy));
}

absl::Status Check(std::span<const std::byte> record, uint32_t magic, uint64_t position,
                   uint32_t copy) {
  const auto found = GetLittleEndian<uint32_t>(&record[record.size() - 4]);
  const uint32_t expected = RecordCrc(record, position, copy);
  const auto where = [&] { return absl::StrCat("index copy ", copy, " at byte ", position); };
  if (GetLittleEndian<uint32_t>(&record[0]) != magic) {
    return absl::DataLossError(absl::StrCat(where(), ": wrong magic"));
  }
  if (found != expected) {
    return absl::DataLossError(absl::StrCat(where(), ": check value is ", absl::Hex(found),
                                            ", expected ", absl::Hex(expected)));
  }
  if (const auto version = GetLittleEndian<uint16_t>(&record[4]); version != kIndexVersion) {
    return absl::DataLossError(absl::StrCat(where(), ": format version ", version,
                                            " is not known; this build reads ", kIndexVersion));
  }
  return absl::OkStatus();
}

}  // namespace

EntryFormat EntryFormat::Of(uint64_t block_bytes, uint32_t epoch) {
  const uint32_t piece_bytes = PieceBytesOf(block_bytes);
  const uint64_t pieces = (block_bytes + piece_bytes - 1) / piece_bytes;
  const uint64_t used = kPiecesOffset + pieces * sizeof(uint32_t) + kRecordCrcBytes;
  return {.block_bytes = static_cast<uint32_t>(block_bytes),
          .piece_bytes = piece_bytes,
          .entry_bytes = static_cast<uint32_t>((used + 63) / 64 * 64),
          .epoch = epoch};
}

void EntryFormat::Encode(const IndexEntry& entry, uint32_t copy, std::span<std::byte> bytes) const {
  std::ranges::fill(bytes, std::byte{0});
  PutLittleEndian(&bytes[0], kEntryMagic);
  PutLittleEndian(&bytes[4], kIndexVersion);
  PutLittleEndian(&bytes[8], entry.sequence);
  PutLittleEndian(&bytes[16], entry.sample_index);
  PutLittleEndian(&bytes[24], entry.capture_ns);
  PutLittleEndian(&bytes[32], entry.payload_bytes);
  PutLittleEndian(&bytes[36], entry.flags);
  PutLittleEndian(&bytes[40], entry.check);
  PutLittleEndian(&bytes[44], entry.payload_crc32c);
  PutLittleEndian(&bytes[48], epoch);
  for (size_t i = 0; i < entry.pieces.size(); ++i) {
    PutLittleEndian(&bytes[kPiecesOffset + i * sizeof(uint32_t)], entry.pieces[i]);
  }
  Seal(bytes, Offset(entry.sequence), copy);
}

absl::StatusOr<IndexEntry> EntryFormat::Decode(std::span<const std::byte> bytes, uint64_t sequence,
                                               uint32_t copy) const {
  if (std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; })) {
    return absl::NotFoundError(absl::StrCat("index entry ", sequence, " was never written"));
  }
  if (absl::Status status = Check(bytes, kEntryMagic, Offset(sequence), copy); !status.ok()) {
    return status;
  }
  IndexEntry entry{.sequence = GetLittleEndian<uint64_t>(&bytes[8]),
                   .sample_index = GetLittleEndian<uint64_t>(&bytes[16]),
                   .capture_ns = GetLittleEndian<int64_t>(&bytes[24]),
                   .payload_bytes = GetLittleEndian<uint32_t>(&bytes[32]),
                   .flags = GetLittleEndian<uint32_t>(&bytes[36]),
                   .check = GetLittleEndian<uint32_t>(&bytes[40]),
                   .payload_crc32c = GetLittleEndian<uint32_t>(&bytes[44])};
  if (const auto found = GetLittleEndian<uint32_t>(&bytes[48]); found != epoch) {
    return absl::AbortedError(absl::StrCat("index entry ", sequence,
                                           " is of an earlier recording: its epoch is ",
                                           absl::Hex(found), ", not ", absl::Hex(epoch)));
  }
  const bool missing = (entry.flags & dataplane::kBlockMissing) != 0;
  if (entry.sequence != sequence || entry.payload_bytes > block_bytes ||
      (missing && entry.payload_bytes > 0)) {
    return absl::DataLossError(absl::StrCat(
        "index entry ", sequence, " says it is entry ", entry.sequence, " with ",
        entry.payload_bytes, " bytes and flags ", entry.flags, "; blocks have ", block_bytes));
  }
  // As many as there are pieces of block_bytes have room in an entry.
  const uint64_t pieces = (uint64_t{entry.payload_bytes} + piece_bytes - 1) / piece_bytes;
  for (uint64_t i = 0; i < pieces; ++i) {
    entry.pieces.push_back(GetLittleEndian<uint32_t>(&bytes[kPiecesOffset + i * sizeof(uint32_t)]));
  }
  return entry;
}

Page EncodeHeader(const IndexHeader& header, uint32_t copy) {
  Page page{};
  PutLittleEndian(&page[0], kHeaderMagic);
  PutLittleEndian(&page[4], kIndexVersion);
  const EntryFormat entries = EntryFormat::Of(header.block_bytes, header.epoch);
  PutLittleEndian(&page[6], static_cast<uint16_t>(entries.entry_bytes));
  std::copy(header.lun.bytes.begin(), header.lun.bytes.end(), &page[8]);
  std::copy(header.recording.bytes.begin(), header.recording.bytes.end(), &page[24]);
  PutLittleEndian(&page[40], header.block_bytes);
  PutLittleEndian(&page[44], header.epoch);
  PutLittleEndian(&page[48], header.members);
  PutLittleEndian(&page[52], entries.piece_bytes);
  PutLittleEndian(&page[kTextLengthOffset], static_cast<uint32_t>(header.manifest.size()));
  std::ranges::copy(std::as_bytes(std::span(header.manifest)), &page[kTextOffset]);
  Seal(page, 0, copy);
  return page;
}

absl::StatusOr<IndexHeader> DecodeHeader(std::span<const std::byte, kPageBytes> bytes,
                                         uint32_t copy) {
  if (absl::Status status = Check(bytes, kHeaderMagic, 0, copy); !status.ok()) return status;
  IndexHeader header{.block_bytes = GetLittleEndian<uint32_t>(&bytes[40]),
                     .epoch = GetLittleEndian<uint32_t>(&bytes[44]),
                     .members = GetLittleEndian<uint32_t>(&bytes[48])};
  std::copy_n(&bytes[8], 16, header.lun.bytes.begin());
  std::copy_n(&bytes[24], 16, header.recording.bytes.begin());
  const bool possible =
      IsBlockSize(header.block_bytes) && header.members > 0 && header.members <= kMaxMembers;
  const EntryFormat entries =
      possible ? EntryFormat::Of(header.block_bytes, header.epoch) : EntryFormat();
  if (!possible || GetLittleEndian<uint16_t>(&bytes[6]) != entries.entry_bytes ||
      GetLittleEndian<uint32_t>(&bytes[52]) != entries.piece_bytes) {
    return absl::DataLossError(
        absl::StrCat("index copy ", copy, ": the header has entries that do not fit its ",
                     header.members, " members and blocks of ", header.block_bytes, " bytes"));
  }
  const auto text_bytes = GetLittleEndian<uint32_t>(&bytes[kTextLengthOffset]);
  if (text_bytes > kMaxHeaderManifestBytes) {
    return absl::DataLossError(absl::StrCat("index copy ", copy, ": the header names a text of ",
                                            text_bytes, " bytes, and ", kMaxHeaderManifestBytes,
                                            " fit"));
  }
  header.manifest.assign(reinterpret_cast<const char*>(&bytes[kTextOffset]), text_bytes);
  return header;
}

Page EncodeWatermark(const Watermark& watermark, uint32_t copy) {
  Page page{};
  PutLittleEndian(&page[0], kWatermarkMagic);
  PutLittleEndian(&page[4], kIndexVersion);
  std::copy(watermark.recording.bytes.begin(), watermark.recording.bytes.end(), &page[8]);
  PutLittleEndian(&page[24], watermark.generation);
  PutLittleEndian(&page[32], watermark.durable);
  Seal(page, WatermarkOffset(watermark.generation), copy);
  return page;
}

absl::StatusOr<Watermark> DecodeWatermark(std::span<const std::byte> page, const Uuid& recording,
                                          uint64_t parity, uint32_t copy) {
  const uint64_t position = WatermarkOffset(parity);
  if (absl::Status status = Check(page, kWatermarkMagic, position, copy); !status.ok()) {
    return status;
  }
  Watermark found{.generation = GetLittleEndian<uint64_t>(&page[24]),
                  .durable = GetLittleEndian<uint64_t>(&page[32])};
  std::copy_n(&page[8], 16, found.recording.bytes.begin());
  if (found.recording != recording || found.generation % 2 != parity ||
      found.generation > kMaxGeneration) {
    return absl::DataLossError(absl::StrCat("index copy ", copy, " at byte ", position,
                                            ": the watermark is of another recording or page"));
  }
  return found;
}

std::optional<Watermark> NewestWatermark(std::span<const std::byte> pages, const Uuid& recording,
                                         uint32_t copy) {
  std::optional<Watermark> newest;
  for (uint64_t parity = 0; parity < 2 && pages.size() >= (parity + 1) * kPageBytes; ++parity) {
    const auto page = pages.subspan(parity * kPageBytes, kPageBytes);
    const auto found = DecodeWatermark(page, recording, parity, copy);
    if (!found.ok()) continue;
    if (!newest.has_value() || found->generation > newest->generation) newest = *found;
  }
  return newest;
}

}  // namespace tapedeck::storage_node::format
