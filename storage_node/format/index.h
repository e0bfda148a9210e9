// The index file of a recording: a header page, two watermark pages, then one 64-byte entry per
// block. README.md has the byte tables. Everything is little-endian and checks itself; the check
// values are seeded with the place in the file and the copy, so a misplaced record fails too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "storage_node/format/identity.h"

namespace tapedeck::storage_node::format {

inline constexpr size_t kPageBytes = 4096;
inline constexpr size_t kEntryBytes = 64;
inline constexpr uint64_t kEntriesOffset = 3 * kPageBytes;
inline constexpr uint32_t kMaxIndexCopies = 2;
inline constexpr uint16_t kIndexVersion = 1;

constexpr uint64_t EntryOffset(uint64_t sequence) {
  return kEntriesOffset + sequence * kEntryBytes;
}

// A stored block. `check` is CheckValue() of its identity and payload. The plain CRC beside it only
// serves to name the damage when `check` fails.
struct IndexEntry {
  uint64_t sequence = 0;
  uint64_t sample_index = 0;
  int64_t capture_ns = 0;
  uint32_t payload_bytes = 0;
  uint32_t flags = 0;  // dataplane::BlockFlags
  uint32_t check = 0;
  uint32_t payload_crc32c = 0;
  bool operator==(const IndexEntry&) const = default;
};

using EntryBytes = std::array<std::byte, kEntryBytes>;
EntryBytes EncodeEntry(const IndexEntry& entry, uint32_t copy);

// NOT_FOUND: never written (all zero). DATA_LOSS: damaged, misplaced or of another format.
absl::StatusOr<IndexEntry> DecodeEntry(std::span<const std::byte, kEntryBytes> bytes,
                                       uint64_t sequence, uint32_t copy);

using Page = std::array<std::byte, kPageBytes>;

// Page 0: which recording this index is of.
struct IndexHeader {
  Uuid lun;
  Uuid recording;
  uint32_t block_bytes = 0;
  uint32_t epoch = 0;
  uint32_t members = 1;
  bool operator==(const IndexHeader&) const = default;
};

Page EncodeHeader(const IndexHeader& header, uint32_t copy);
absl::StatusOr<IndexHeader> DecodeHeader(std::span<const std::byte, kPageBytes> bytes,
                                         uint32_t copy);

// Pages 1 and 2, written in turn: every block below `durable` was durable when this was written.
struct Watermark {
  Uuid recording;
  uint64_t generation = 0;  // page 1 + generation % 2
  uint64_t durable = 0;
};

constexpr uint64_t WatermarkOffset(uint64_t generation) {
  return (1 + generation % 2) * kPageBytes;
}

Page EncodeWatermark(const Watermark& watermark, uint32_t copy);

// The newer valid one of the two pages that follow the header page.
std::optional<Watermark> NewestWatermark(std::span<const std::byte> pages, const Uuid& recording,
                                         uint32_t copy);

}  // namespace tapedeck::storage_node::format
