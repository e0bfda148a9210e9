#include "storage_node/index/index_reader.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"

namespace tapedeck::storage_node::index {
namespace {

constexpr uint64_t kChunkEntries = 256;  // 32 KiB of index, 256 blocks ahead
// The one being played, the next one, and one for a block that is wanted again.
constexpr size_t kChunksKept = 3;

bool AllZero(std::span<const std::byte> record) {
  return record[0] == std::byte{0} &&
         std::memcmp(record.data(), record.data() + 1, record.size() - 1) == 0;
}

}  // namespace

void MergeEntries(const format::EntryFormat& format, std::span<const std::byte> bytes,
                  uint64_t first, uint32_t copy, Entries* entries) {
  for (size_t i = 0; i < entries->size(); ++i) {
    if ((*entries)[i].ok() || (i + 1) * format.entry_bytes > bytes.size()) continue;
    const auto record = bytes.subspan(i * format.entry_bytes, format.entry_bytes);
    // Of the index of a recording that was not closed that is the most, reserved ahead.
    if (absl::IsNotFound((*entries)[i].status()) && AllZero(record)) continue;
    (*entries)[i] = format.Decode(record, first + i, copy);
  }
}

const absl::StatusOr<format::IndexEntry>* IndexReader::Find(uint64_t sequence) {
  const uint64_t number = sequence / kChunkEntries;
  Load(number);
  const Chunk& chunk = chunks_.at(number);
  if (!chunk.loaded) return nullptr;
  Load(number + 1);
  return &chunk.entries[sequence % kChunkEntries];
}

void IndexReader::Forget(uint64_t sequence) {
  const auto it = chunks_.find(sequence / kChunkEntries);
  if (it != chunks_.end() && it->second.loaded) chunks_.erase(it);
}

void IndexReader::Load(uint64_t number) {
  if (chunks_.contains(number)) return;
  while (chunks_.size() >= kChunksKept) {
    // Chunks being read are kept for their callback; the neighbour is about to be used.
    const auto it = std::find_if(chunks_.begin(), chunks_.end(), [number](const auto& entry) {
      return entry.second.loaded && entry.first + 1 != number;
    });
    if (it == chunks_.end()) break;
    chunks_.erase(it);
  }
  chunks_[number].entries.assign(kChunkEntries, absl::NotFoundError("index entry never written"));
  ReadCopy(number, 0);
}

void IndexReader::ReadCopy(uint64_t number, uint32_t copy) {
  files_.ReadIndex(copy, entries_.Offset(number * kChunkEntries),
                   kChunkEntries * entries_.entry_bytes,
                   [this, number, copy](const absl::StatusOr<store::Bytes>& bytes) {
                     OnRead(number, copy, bytes);
                   });
}

void IndexReader::OnRead(uint64_t number, uint32_t copy,
                         const absl::StatusOr<store::Bytes>& bytes) {
  Chunk& chunk = chunks_.at(number);
  if (bytes.ok()) {
    MergeEntries(entries_, *bytes, number * kChunkEntries, copy, &chunk.entries);
  } else {
    for (auto& entry : chunk.entries) {
      if (!entry.ok()) entry = bytes.status();
    }
  }
  const bool damaged = std::any_of(chunk.entries.begin(), chunk.entries.end(), [](const auto& e) {
    return !e.ok() && !absl::IsNotFound(e.status());
  });
  if (damaged) {
    dataplane::Log(
        dataplane::LogLevel::kWarning, "index_reader", "index copy damaged",
        {{"copy", absl::StrCat(copy)}, {"first_block", absl::StrCat(number * kChunkEntries)}});
  }
  const bool whole = std::all_of(chunk.entries.begin(), chunk.entries.end(),
                                 [](const auto& entry) { return entry.ok(); });
  if (!whole && copy + 1 < files_.index_copies()) return ReadCopy(number, copy + 1);
  chunk.loaded = true;
  on_loaded_();
}

}  // namespace tapedeck::storage_node::index
