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
#include "dataplane/memory/slot_pool.h"
#include "services/model/seams/view.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/recording_files.h"
#include "storage_node/view/entries.h"
#include "storage_node/view/extent.h"
#include "storage_node/view/patience.h"

namespace tapedeck::storage_node::view {

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
