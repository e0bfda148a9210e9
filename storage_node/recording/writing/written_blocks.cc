#include "storage_node/recording/writing/written_blocks.h"

#include <algorithm>

#include "storage_node/format/identity.h"

namespace tapedeck::storage_node::recording {

WrittenBlocks::WrittenBlocks(const format::Manifest& manifest, const WriterStart& start)
    : block_bytes_(manifest.block_bytes),
      start_(manifest),
      bytes_(start.bytes),
      data_bytes_(start.data_bytes) {
  data_bytes_.resize(manifest.members);
  AddThere(start, &blocks_);
  for (const format::SequenceRange& range : start.missing) gaps_.Add(range);
}

void WrittenBlocks::Add(const format::IndexEntry& entry) {
  blocks_.Add(entry.sequence);
  start_.Add(entry);
  if (entry.payload_bytes == 0) {
    gaps_.Add({.first = entry.sequence, .count = 1});
    return;
  }
  bytes_ += entry.payload_bytes;
  const auto members = static_cast<uint32_t>(data_bytes_.size());
  const format::Place place = format::PlaceOf(entry.sequence, block_bytes_, members);
  uint64_t& end = data_bytes_[place.member];
  end = std::max(end, place.offset + entry.payload_bytes);
}

std::vector<format::SequenceRange> WrittenBlocks::Missing() const {
  Gaps missing = gaps_;
  blocks_.ForEachHole(
      [&](uint64_t first, uint64_t count) { missing.Add({.first = first, .count = count}); });
  return missing.List();
}

void AddThere(const WriterStart& start, dataplane::SequenceMark* blocks) {
  blocks->AddBelow(start.next);
  for (const format::SequenceRange& range : start.there) {
    for (uint64_t i = 0; i < range.count; ++i) blocks->Add(range.first + i);
  }
}

}  // namespace tapedeck::storage_node::recording
