// The index file of a recording: a header page, two watermark pages, then one entry per block.
// README.md has the byte tables. Everything is little-endian and checks itself. The seed of each
// check value is the place in the file and the copy, so a misplaced record fails too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "storage_node/format/identity.h"
#include "storage_node/format/pieces.h"

namespace tapedeck::storage_node::format {

inline constexpr size_t kPageBytes = 4096;
inline constexpr uint64_t kEntriesOffset = 3 * kPageBytes;
inline constexpr uint32_t kMaxIndexCopies = 2;
inline constexpr uint16_t kIndexVersion = 1;

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
  PieceCrcs pieces;  // of the payload
  bool operator==(const IndexEntry&) const = default;
};

// How the entries of one recording lie in its index, and the epoch that tells them from those that
// an earlier recording left there.
struct EntryFormat {
  uint32_t block_bytes = 0;
  uint32_t piece_bytes = 0;
  uint32_t entry_bytes = 0;  // a multiple of 64
  uint32_t epoch = 0;

  // `block_bytes` as IsBlockSize() has it.
  static EntryFormat Of(uint64_t block_bytes, uint32_t epoch);

  uint64_t Offset(uint64_t sequence) const { return kEntriesOffset + sequence * entry_bytes; }

  // `bytes` has entry_bytes, and the payload at most block_bytes.
  void Encode(const IndexEntry& entry, uint32_t copy, std::span<std::byte> bytes) const;

  // `bytes` has entry_bytes. NOT_FOUND: never written (all zero). ABORTED: of an earlier recording.
  // DATA_LOSS: damaged, misplaced, of another format, or with values that no block of the recording
  // has.
  absl::StatusOr<IndexEntry> Decode(std::span<const std::byte> bytes, uint64_t sequence,
                                    uint32_t copy) const;
};

using Page = std::array<std::byte, kPageBytes>;

// The most bytes of IndexHeader::manifest.
inline constexpr size_t kMaxHeaderManifestBytes = 4032;

// Page 0: which recording this index is of.
struct IndexHeader {
  Uuid lun;
  Uuid recording;
  uint32_t block_bytes = 0;
  uint32_t epoch = 0;
  uint32_t members = 1;
  // The text of a manifest in state RECORDING, by which a recording that has lost its own is found
  // again (Manifest::index_header). Empty: the index was written without it. It tells no recording
  // from another, and copies of one index may differ in it.
  std::string manifest;

  bool operator==(const IndexHeader& other) const {
    return std::tie(lun, recording, block_bytes, epoch, members) ==
           std::tie(other.lun, other.recording, other.block_bytes, other.epoch, other.members);
  }
};

// `header.manifest` has at most kMaxHeaderManifestBytes.
Page EncodeHeader(const IndexHeader& header, uint32_t copy);
// DATA_LOSS: damaged, or with values that no recording has.
absl::StatusOr<IndexHeader> DecodeHeader(std::span<const std::byte, kPageBytes> bytes,
                                         uint32_t copy);

// Pages 1 and 2, written in turn: every block below `durable` was durable when this was written.
struct Watermark {
  Uuid recording;
  uint64_t generation = 0;  // page 1 + generation % 2
  uint64_t durable = 0;
  bool operator==(const Watermark&) const = default;
};

constexpr uint64_t WatermarkOffset(uint64_t generation) {
  return (1 + generation % 2) * kPageBytes;
}

Page EncodeWatermark(const Watermark& watermark, uint32_t copy);

// Of the page at WatermarkOffset(`parity`), which holds the generations of that parity; `page` is
// all of it. DATA_LOSS: damaged, never written, of another recording, or above any generation.
absl::StatusOr<Watermark> DecodeWatermark(std::span<const std::byte> page, const Uuid& recording,
                                          uint64_t parity, uint32_t copy);

// The newer valid one of the two pages that follow the header page.
std::optional<Watermark> NewestWatermark(std::span<const std::byte> pages, const Uuid& recording,
                                         uint32_t copy);

}  // namespace tapedeck::storage_node::format
