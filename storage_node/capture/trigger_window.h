// The time around a trigger, in samples of one channel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dataplane/block/block.h"
#include "services/base/errors.h"
#include "services/model/seams/recorder.h"

namespace tapedeck::storage_node::capture {

struct TriggerWindow {
  uint64_t before_samples = 0;
  uint64_t after_samples = 0;
  uint64_t block_bytes = 0;
  size_t sample_bytes = 1;
  double sample_rate = 0;  // 0: unknown

  // One more than the block's last sample. Of a block without payload, as many samples as of a full
  // one.
  uint64_t EndOf(const dataplane::BlockHeader& header) const {
    const uint64_t bytes = header.payload_bytes == 0 ? block_bytes : header.payload_bytes;
    return header.sample_index + bytes / sample_bytes;
  }

  // What has triggered lies in the block. INVALID_ARGUMENT (PROTOCOL_VIOLATION).
  absl::Status CheckTriggers(const dataplane::BlockHeader& header) const {
    if (header.sample_index + header.triggers.last < EndOf(header)) return absl::OkStatus();
    return services::ProtocolViolation(
        {.message = "Block"},
        absl::StrCat("block ", header.sequence, " names its sample ", header.triggers.last,
                     " as a trigger, and has ", EndOf(header) - header.sample_index, " samples"));
  }

  // What a trigger at `sample` asks for; no recording is named.
  services::Capture Around(uint64_t sample) const {
    return {.first_sample = sample - std::min(sample, before_samples),
            .trigger_sample = sample,
            .end_sample = sample + std::max<uint64_t>(after_samples, 1)};
  }

  // How many blocks `samples` samples of a stream may touch.
  size_t BlocksFor(uint64_t samples) const {
    const uint64_t per_block = std::max<uint64_t>(1, block_bytes / sample_bytes);
    return static_cast<size_t>(samples / per_block + 2);  // one partly needed at each end
  }
};

}  // namespace tapedeck::storage_node::capture
