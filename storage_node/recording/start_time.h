// The start of a recording, from what its blocks carry: the capture time of its first sample. A
// value.
#pragma once

#include <cstdint>
#include <optional>

#include "services/model/recording/sample_time.h"
#include "storage_node/format/index.h"
#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::recording {

class StartTime {
 public:
  // A start that the manifest has already stays.
  explicit StartTime(const format::Manifest& manifest);

  // In any order.
  void Add(const format::IndexEntry& entry);

  // Of the first block that has samples and a time. If blocks before it are missing, it is counted
  // back by the sample rate, in a part of a recording to the first sample of the whole.
  services::model::SampleTime time_ns() const { return time_ns_; }

 private:
  const uint64_t block_samples_;  // 0: not known
  const double sample_rate_;
  const bool is_part_;
  std::optional<uint64_t> sequence_;  // of the block that it is from
  services::model::SampleTime time_ns_;
};

}  // namespace tapedeck::storage_node::recording
