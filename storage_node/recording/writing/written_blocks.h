// The blocks and bytes of a recording that are written with their index entries, and how far each
// member is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "dataplane/block/sequence_mark.h"
#include "storage_node/format/index.h"
#include "storage_node/format/manifest.h"
#include "storage_node/recording/start_time.h"
#include "storage_node/recording/writing/writer_start.h"

namespace tapedeck::storage_node::recording {

// The blocks of a recording that came without payload.
// One thread. Memory grows with the separate gaps, not with their lengths.
class Gaps {
 public:
  // `more` has nothing of what is there already.
  void Add(format::SequenceRange more) {
    blocks_ += more.count;
    auto next = ranges_.lower_bound(more.first);
    if (next != ranges_.end() && next->first == more.first + more.count) {
      more.count += next->second;
      next = ranges_.erase(next);
    }
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == more.first) {
        before->second += more.count;
        return;
      }
    }
    ranges_.emplace_hint(next, more.first, more.count);
  }

  uint64_t blocks() const { return blocks_; }
  size_t ranges() const { return ranges_.size(); }

  // In order, with blocks that are there between them.
  std::vector<format::SequenceRange> List() const {
    std::vector<format::SequenceRange> list;
    for (const auto& [first, count] : ranges_) list.push_back({.first = first, .count = count});
    return list;
  }

 private:
  std::map<uint64_t, uint64_t> ranges_;  // first → count
  uint64_t blocks_ = 0;
};

// One thread.
class WrittenBlocks {
 public:
  // Of a recording with such a manifest, which begins with what is there already.
  WrittenBlocks(const format::Manifest& manifest, const WriterStart& start);

  void Add(const format::IndexEntry& entry);

  // Every block below is there.
  uint64_t mark() const { return blocks_.mark(); }
  // One more than the last that is.
  uint64_t end() const { return blocks_.end(); }
  uint64_t bytes() const { return bytes_; }
  services::model::SampleTime start_time_ns() const { return start_.time_ns(); }
  // Used on each member.
  const std::vector<uint64_t>& data_bytes() const { return data_bytes_; }
  // Those that came without payload.
  const Gaps& gaps() const { return gaps_; }
  // And those that have not come.
  std::vector<format::SequenceRange> Missing() const;

 private:
  const uint64_t block_bytes_;
  dataplane::SequenceMark blocks_;
  Gaps gaps_;
  StartTime start_;
  uint64_t bytes_;
  std::vector<uint64_t> data_bytes_;
};

// Those below the first that is needed, and those that lie beyond it.
void AddThere(const WriterStart& start, dataplane::SequenceMark* blocks);

}  // namespace tapedeck::storage_node::recording
