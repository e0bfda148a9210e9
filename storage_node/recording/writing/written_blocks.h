// The blocks and bytes of a recording that are written with their index entries, and how far each
// member is used.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/block/sequence_mark.h"
#include "storage_node/format/index.h"
#include "storage_node/format/manifest.h"
#include "storage_node/recording/start_time.h"
#include "storage_node/recording/writing/gaps.h"
#include "storage_node/recording/writing/writer_start.h"

namespace tapedeck::storage_node::recording {

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
