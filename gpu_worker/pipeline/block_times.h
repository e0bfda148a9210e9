// When the blocks of a playback were captured: by the start of their recording, as everything else
// tells it, and not by when each of them was made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dataplane/block/block.h"
#include "services/model/recording/recording.h"
#include "services/model/recording/sample_time.h"

namespace tapedeck::gpu_worker::pipeline {

// On the executor of the session that carries the blocks.
class BlockTimes {
 public:
  BlockTimes(const services::Recording& recording, uint64_t block_samples)
      : recording_(recording.name),
        start_ns_(recording.start_time_ns),
        rate_(recording.sample_rate),
        block_samples_(block_samples) {}

  const std::string& recording() const { return recording_; }

  // The first block that comes is that one of the recording, counted from 0. Before any comes; else
  // blocks keep their own times.
  void BeginAt(uint64_t block) { first_ = block; }

  // Nanoseconds since 1970, UTC, or kTimeUnknown. Without a start, the block's own.
  int64_t Of(const dataplane::BlockHeader& header) const {
    if (!first_.has_value()) return header.capture_ns;
    const uint64_t sample = (*first_ + header.sequence) * block_samples_;
    return services::model::TimeAfter(start_ns_, sample, rate_).value_or(header.capture_ns);
  }

 private:
  const std::string recording_;
  const services::model::SampleTime start_ns_;
  const double rate_;  // 0: unknown
  const uint64_t block_samples_;
  std::optional<uint64_t> first_;
};

}  // namespace tapedeck::gpu_worker::pipeline
