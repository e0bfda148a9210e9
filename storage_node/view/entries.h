// Index entries of blocks that lie anywhere in a recording: the requested ones, and few others.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "storage_node/index/index_reader.h"
#include "storage_node/store/recording_files.h"
#include "storage_node/view/patience.h"

namespace tapedeck::storage_node::view {

// Of one thread; goes before the files.
class Entries {
 public:
  Entries(store::IndexFiles& files, const format::EntryFormat& format, Patience& patience)
      : files_(files), format_(format), patience_(patience) {}

  // Reads the entries of these blocks, which ascend, unless they are here already; of two copies of
  // the index the second one where the first has none. All others are forgotten.
  absl::Status Fetch(const std::vector<uint64_t>& sequences);

  // Of one that was fetched: the entry, or why no copy has it.
  const absl::StatusOr<format::IndexEntry>& At(uint64_t sequence) const {
    return entries_.at(sequence);
  }

  uint64_t bytes_read() const { return bytes_read_; }

 private:
  // Neighbours, or nearly.
  struct Run {
    uint64_t first = 0;
    index::Entries entries;
  };

  void Read(Run* run, uint32_t copy);
  void OnRead(Run* run, uint32_t copy, const absl::StatusOr<store::Bytes>& bytes);

  store::IndexFiles& files_;
  const format::EntryFormat format_;
  Patience& patience_;
  std::map<uint64_t, absl::StatusOr<format::IndexEntry>> entries_;
  uint64_t bytes_read_ = 0;
  std::vector<Run> runs_;  // being read
  size_t under_way_ = 0;
};

}  // namespace tapedeck::storage_node::view
