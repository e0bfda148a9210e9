// The records of an index file by the place where they lie: its first pages, then the entries. For
// those to whom they are all alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "absl/status/statusor.h"
#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::index {

using IndexRecord = std::variant<format::IndexHeader, format::Watermark, format::IndexEntry>;

// What belongs where in the index of one closed recording. Any thread.
class IndexLayout {
 public:
  explicit IndexLayout(const format::Manifest& manifest)
      : header_(manifest.index_header()), entries_(manifest.entries()) {}

  const format::EntryFormat& entries() const { return entries_; }

  // The record that begins at byte `offset`; `bytes` are all of it. An error if it is not sound, or
  // not of this recording and place.
  absl::StatusOr<IndexRecord> Decode(uint64_t offset, std::span<const std::byte> bytes,
                                     uint32_t copy) const;

  // As that copy has it. `bytes` has the record's size.
  void Encode(const IndexRecord& record, uint32_t copy, std::span<std::byte> bytes) const;

 private:
  const format::IndexHeader header_;
  const format::EntryFormat entries_;
};

}  // namespace tapedeck::storage_node::index
