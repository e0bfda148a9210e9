// Pieces of a recording's blocks, read and checked, each by its CRC from the index. The view shows
// only these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/datatype.h"
#include "dataplane/memory/slot_pool.h"
#include "services/model/seams/view.h"
#include "storage_node/format/manifest.h"
#include "storage_node/index/index_reader.h"
#include "storage_node/store/recording_files.h"
#include "storage_node/view/patience.h"

namespace tapedeck::storage_node::view {

// Index entries of blocks that lie anywhere in a recording: those that are asked for, and few
// others.
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

// The samples of a recording, counted as tapedeck/v1/view.proto says.
struct Extent {
  dataplane::Datatype datatype;
  uint64_t sample_bytes = 0;   // a power of two, 16 at most
  uint64_t block_samples = 0;  // of whole blocks
  uint64_t piece_samples = 0;  // of whole pieces
  uint64_t blocks = 0;         // that can be read
  uint64_t samples = 0;        // of them
};

// Longest read; slots of the ring for it have as much, or a block where the store lends blocks.
inline constexpr uint64_t kReadBytes = 256 << 10;

struct PiecesOptions {
  store::RecordingFiles& files;
  std::shared_ptr<dataplane::SlotPool> ring;
  const format::Manifest& manifest;
  const Extent& extent;
  // The store gives whole blocks alone, which cost it nothing.
  bool whole_blocks = false;
};

// Of one thread; goes before all that it is given.
class Pieces {
 public:
  Pieces(const PiecesOptions& options, Patience& patience);
  ~Pieces();
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  // Reads the pieces that these samples lie in, unless they are here already, several at a time,
  // what is bad once more. All others are forgotten. No error where something is missing or
  // damaged.
  absl::Status Fetch(std::span<const services::SampleSpan> spans);

  // The samples of what was fetched, as they are stored, but for those that are missing or damaged:
  // runs in order, with the first sample of each.
  using OnRun = absl::FunctionRef<void(uint64_t first, std::span<const std::byte> samples)>;
  void Visit(const services::SampleSpan& span, OnRun on_run) const;

  // Of payload and index.
  uint64_t bytes_read() const { return bytes_read_ + entries_.bytes_read(); }
  // And blocks without an entry that is sound.
  uint64_t damaged() const { return damaged_.size() + damaged_entries_.size(); }

 private:
  // Neighbours of one block.
  struct Job {
    uint64_t first = 0;  // piece, counted through the recording
    uint32_t count = 0;
    uint32_t tries = 0;  // after the first, with the copies in turn
  };

  uint64_t BlockOf(uint64_t piece) const { return piece / pieces_per_block_; }
  std::set<uint64_t> PiecesOf(std::span<const services::SampleSpan> spans) const;
  bool Known(uint64_t piece) const { return good_.contains(piece) || damaged_.contains(piece); }
  // What can be read of the block; null: nothing, or nothing that would be sound.
  const format::IndexEntry* EntryOf(uint64_t sequence);
  void AddJobs(const std::set<uint64_t>& pieces);
  void Pump();
  bool Start(const Job& job);
  void OnRead(const Job& job, const absl::StatusOr<dataplane::Block>& block);
  // `read` begins with the job's first piece.
  void Take(const Job& job, std::span<const std::byte> read);

  const PiecesOptions options_;
  Patience& patience_;
  const uint64_t piece_bytes_;
  const uint64_t pieces_per_block_;
  Entries entries_;
  std::map<uint64_t, std::vector<std::byte>> good_;
  std::set<uint64_t> damaged_;          // pieces
  std::set<uint64_t> damaged_entries_;  // blocks
  std::deque<Job> jobs_;
  size_t under_way_ = 0;
  uint64_t bytes_read_ = 0;
};

}  // namespace tapedeck::storage_node::view
