#include "storage_node/index/index_record.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::index {
namespace {

// Writes a record where it belongs.
struct Encoder {
  const format::EntryFormat& entries;
  const uint32_t copy;
  const std::span<std::byte> bytes;

  void operator()(const format::IndexHeader& header) const {
    std::ranges::copy(format::EncodeHeader(header, copy), bytes.begin());
  }
  void operator()(const format::Watermark& watermark) const {
    std::ranges::copy(format::EncodeWatermark(watermark, copy), bytes.begin());
  }
  void operator()(const format::IndexEntry& entry) const { entries.Encode(entry, copy, bytes); }
};

}  // namespace

absl::StatusOr<IndexRecord> IndexLayout::Decode(uint64_t offset, std::span<const std::byte> bytes,
                                                uint32_t copy) const {
  if (offset == 0) {
    TD_ASSIGN_OR_RETURN(const format::IndexHeader header,
                        format::DecodeHeader(bytes.first<format::kPageBytes>(), copy));
    if (header == header_) return IndexRecord(header);
    return absl::DataLossError(
        absl::StrCat("index copy ", copy, ": the header is of another recording"));
  }
  if (offset < format::kEntriesOffset) {
    const uint64_t parity = offset / format::kPageBytes - 1;
    TD_ASSIGN_OR_RETURN(format::Watermark watermark,
                        format::DecodeWatermark(bytes, header_.recording, parity, copy));
    return IndexRecord(watermark);
  }
  const uint64_t sequence = (offset - format::kEntriesOffset) / entries_.entry_bytes;
  TD_ASSIGN_OR_RETURN(format::IndexEntry entry, entries_.Decode(bytes, sequence, copy));
  return IndexRecord(std::move(entry));
}

void IndexLayout::Encode(const IndexRecord& record, uint32_t copy,
                         std::span<std::byte> bytes) const {
  std::visit(Encoder{.entries = entries_, .copy = copy, .bytes = bytes}, record);
}

}  // namespace tapedeck::storage_node::index
