#include "storage_node/recording/start_time.h"

#include "dataplane/block/block.h"
#include "services/model/recording/part.h"
#include "storage_node/format/sigmf.h"

namespace tapedeck::storage_node::recording {

StartTime::StartTime(const format::Manifest& manifest)
    : block_samples_(format::BlockSamplesOf(manifest)),
      sample_rate_(manifest.sample_rate),
      is_part_(manifest.part.has_value()),
      time_ns_(manifest.start_time_ns) {
  if (time_ns_.has_value()) sequence_ = 0;
}

void StartTime::Add(const format::IndexEntry& entry) {
  const bool later = sequence_.has_value() && entry.sequence >= *sequence_;
  if (later || entry.payload_bytes == 0 || entry.capture_ns == dataplane::kTimeUnknown) return;
  if (block_samples_ == 0 && entry.sequence > 0) return;
  sequence_ = entry.sequence;
  time_ns_ = services::model::TimeBefore(
      entry.capture_ns, is_part_ ? entry.sample_index : entry.sequence * block_samples_,
      sample_rate_);
}

}  // namespace tapedeck::storage_node::recording
