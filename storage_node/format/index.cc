#include "storage_node/format/index.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/crc32c.h"
#include "dataplane/little_endian.h"

namespace tapedeck::storage_node::format {

using dataplane::GetLittleEndian;
using dataplane::PutLittleEndian;
namespace {

constexpr uint32_t kEntryMagic = 0x45494454;      // "TDIE"
constexpr uint32_t kHeaderMagic = 0x58494454;     // "TDIX"
constexpr uint32_t kWatermarkMagic = 0x4d574454;  // "TDWM"

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

EntryBytes EncodeEntry(const IndexEntry& entry, uint32_t copy) {
  EntryBytes bytes{};
  PutLittleEndian(&bytes[0], kEntryMagic);
  PutLittleEndian(&bytes[4], kIndexVersion);
  PutLittleEndian(&bytes[8], entry.sequence);
  PutLittleEndian(&bytes[16], entry.sample_index);
  PutLittleEndian(&bytes[24], entry.capture_ns);
  PutLittleEndian(&bytes[32], entry.payload_bytes);
  PutLittleEndian(&bytes[36], entry.flags);
  PutLittleEndian(&bytes[40], entry.check);
  PutLittleEndian(&bytes[44], entry.payload_crc32c);
  Seal(bytes, EntryOffset(entry.sequence), copy);
  return bytes;
}

absl::StatusOr<IndexEntry> DecodeEntry(std::span<const std::byte, kEntryBytes> bytes,
                                       uint64_t sequence, uint32_t copy) {
  if (std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; })) {
    return absl::NotFoundError(absl::StrCat("index entry ", sequence, " was never written"));
  }
  if (absl::Status status = Check(bytes, kEntryMagic, EntryOffset(sequence), copy); !status.ok()) {
    return status;
  }
  IndexEntry entry{.sequence = GetLittleEndian<uint64_t>(&bytes[8]),
                   .sample_index = GetLittleEndian<uint64_t>(&bytes[16]),
                   .capture_ns = GetLittleEndian<int64_t>(&bytes[24]),
                   .payload_bytes = GetLittleEndian<uint32_t>(&bytes[32]),
                   .flags = GetLittleEndian<uint32_t>(&bytes[36]),
                   .check = GetLittleEndian<uint32_t>(&bytes[40]),
                   .payload_crc32c = GetLittleEndian<uint32_t>(&bytes[44])};
  if (entry.sequence != sequence) {
    return absl::DataLossError(
        absl::StrCat("index entry ", sequence, " says it is entry ", entry.sequence));
  }
  return entry;
}

Page EncodeHeader(const IndexHeader& header, uint32_t copy) {
  Page page{};
  PutLittleEndian(&page[0], kHeaderMagic);
  PutLittleEndian(&page[4], kIndexVersion);
  PutLittleEndian(&page[6], static_cast<uint16_t>(kEntryBytes));
  std::copy(header.lun.bytes.begin(), header.lun.bytes.end(), &page[8]);
  std::copy(header.recording.bytes.begin(), header.recording.bytes.end(), &page[24]);
  PutLittleEndian(&page[40], header.block_bytes);
  PutLittleEndian(&page[44], header.epoch);
  PutLittleEndian(&page[48], header.members);
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

std::optional<Watermark> NewestWatermark(std::span<const std::byte> pages, const Uuid& recording,
                                         uint32_t copy) {
  std::optional<Watermark> newest;
  for (uint64_t parity = 0; parity < 2 && pages.size() >= (parity + 1) * kPageBytes; ++parity) {
    const auto page = pages.subspan(parity * kPageBytes, kPageBytes);
    if (!Check(page, kWatermarkMagic, WatermarkOffset(parity), copy).ok()) continue;
    Watermark found{.generation = GetLittleEndian<uint64_t>(&page[24]),
                    .durable = GetLittleEndian<uint64_t>(&page[32])};
    std::copy_n(&page[8], 16, found.recording.bytes.begin());
    if (found.recording != recording || found.generation % 2 != parity) continue;
    if (!newest.has_value() || found.generation > newest->generation) newest = found;
  }
  return newest;
}

}  // namespace tapedeck::storage_node::format
