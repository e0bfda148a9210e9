// Writes all copies of a recording's index: entries in batches, one batch at a time. So a fast
// stream costs few system calls, and a slow one has no delay.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "storage_node/format/index.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::index {

// Lives on the executor of `files`, which outlive it, and is told through callbacks that may not
// destroy it. A failed write is repeated once.
class IndexWriter {
 public:
  struct Events {
    std::function<void(const std::vector<format::IndexEntry>&)> on_written;
    std::function<void(const absl::Status&)> on_error;
    // The last write has ended, of whatever kind and however: who waits for idle() looks again.
    std::function<void()> on_idle;
  };
  IndexWriter(store::RecordingFiles& files, const format::EntryFormat& entries, Events events)
      : files_(files), entries_(entries), events_(std::move(events)) {}

  void WriteHeader(const format::IndexHeader& header);
  void WriteWatermark(const format::Watermark& watermark);

  // The block's payload must have been written.
  void Add(const format::IndexEntry& entry);

  // Nothing is being written or waits to be.
  bool idle() const { return operations_ == 0 && pending_.empty(); }

 private:
  void WriteBatch();
  void WriteRun(const std::vector<format::IndexEntry>& run);
  void OnRunWritten();
  void Write(uint32_t copy, uint64_t offset, store::Bytes bytes, bool again, bool entries);

  store::RecordingFiles& files_;
  const format::EntryFormat entries_;
  const Events events_;
  std::vector<format::IndexEntry> pending_;
  std::vector<format::IndexEntry> batch_;  // under way
  size_t batch_operations_ = 0;
  size_t operations_ = 0;  // all
  bool batch_failed_ = false;
};

}  // namespace tapedeck::storage_node::index
