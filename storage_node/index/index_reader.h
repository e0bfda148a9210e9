// Reads the index of a recording ahead of its player, and turns to the second copy where the first
// is damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "storage_node/format/index.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::index {

using Entries = std::vector<absl::StatusOr<format::IndexEntry>>;

// Decodes `bytes` of one copy, the entries from `first` on, into those of `entries` that are not
// good yet. Bytes that are not there count as never written.
void MergeEntries(const format::EntryFormat& format, std::span<const std::byte> bytes,
                  uint64_t first, uint32_t copy, Entries* entries);

// Lives on the executor of `files`, which outlive it.
class IndexReader {
 public:
  // `on_loaded` is called when a null answer of Find may have changed.
  IndexReader(store::RecordingFiles& files, const format::EntryFormat& entries,
              std::function<void()> on_loaded)
      : files_(files), entries_(entries), on_loaded_(std::move(on_loaded)) {}

  // The entry of a block, or why no copy has it. Null while it is being read. Valid until the next
  // call.
  const absl::StatusOr<format::IndexEntry>* Find(uint64_t sequence);

  // What was read about this block and its neighbours is old: they are read again when asked for.
  void Forget(uint64_t sequence);

 private:
  struct Chunk {
    Entries entries;
    bool loaded = false;
  };

  void Load(uint64_t number);
  void ReadCopy(uint64_t number, uint32_t copy);
  void OnRead(uint64_t number, uint32_t copy, const absl::StatusOr<store::Bytes>& bytes);

  store::RecordingFiles& files_;
  const format::EntryFormat entries_;
  const std::function<void()> on_loaded_;
  std::map<uint64_t, Chunk> chunks_;
};

}  // namespace tapedeck::storage_node::index
