// What a pipeline's transforms make of its blocks: whether each takes what the one before it gives,
// and how large a block is between them. Found out before a stage is made.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::pipeline {

struct Chain {
  std::vector<uint64_t> block_bytes;  // before each transform, in order, and after the last
  std::string takes;                  // datatype before the first
  std::string gives;                  // and after the last
  uint64_t samples_for_one = 1;       // so many before the first make one after the last

  uint64_t bytes_before() const { return block_bytes.front(); }
  uint64_t bytes_after() const { return block_bytes.back(); }
};

// One of the two ends of a chain that is not a transform, as errors name it.
struct ChainEnd {
  std::string name;      // "the channel"
  std::string datatype;  // empty: whatever it must be
};

// OK if each transform takes what the one before it gives. INVALID_ARGUMENT (ARGUMENT_INVALID)
// names both.
absl::Status CheckOrder(std::span<const stages::ChosenTransform> transforms);

// Of a recording: `block_bytes` are those of the channel's blocks, which whole blocks of the source
// fill exactly. INVALID_ARGUMENT (ARGUMENT_INVALID): two do not fit, or a block of the source is
// larger than a worker holds.
absl::StatusOr<Chain> RecordChain(const ChainEnd& source,
                                  std::span<const stages::ChosenTransform> transforms,
                                  const ChainEnd& channel, uint64_t block_bytes);

// Of a playback: `block_bytes` are those of the recording's blocks. Same errors, also where the
// samples of a block do not become whole ones.
absl::StatusOr<Chain> PlaybackChain(const ChainEnd& recording,
                                    std::span<const stages::ChosenTransform> transforms,
                                    uint64_t block_bytes);

}  // namespace tapedeck::gpu_worker::pipeline
