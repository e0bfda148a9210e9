// The durable watermark of a recording as pages of its index, which bound what recovery must read
// again.
#pragma once

#include <cstdint>

#include "dataplane/clock.h"
#include "storage_node/format/index.h"
#include "storage_node/index/index_writer.h"

namespace tapedeck::storage_node::recording {

// More often they would only cost writes.
inline constexpr int64_t kWatermarkPeriodNs = 25 * dataplane::kMillisecondNs;

// Part of a writer, on its executor; `index` outlives it.
class WatermarkPages {
 public:
  // `generation` is that of the last page that the index has.
  WatermarkPages(index::IndexWriter& index, const format::Uuid& recording, uint64_t generation)
      : index_(index), recording_(recording), generation_(generation) {}

  // Every block below `durable` is. Writes a page unless the last one is too young.
  void OnDurable(uint64_t durable, int64_t now_ns) {
    if (now_ns - written_ns_ < kWatermarkPeriodNs) return;
    written_ns_ = now_ns;
    index_.WriteWatermark(
        {.recording = recording_, .generation = ++generation_, .durable = durable});
  }

  // Of the page that the sealed index gets.
  uint64_t next_generation() const { return generation_ + 1; }

 private:
  index::IndexWriter& index_;
  const format::Uuid recording_;
  uint64_t generation_;
  int64_t written_ns_ = 0;
};

}  // namespace tapedeck::storage_node::recording
