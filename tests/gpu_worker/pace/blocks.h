// Blocks of a stream of 16-bit samples, each of which says its own number.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gpu_worker/pace/block_assembler.h"

namespace tapedeck::gpu_worker::pace {

inline constexpr size_t kBlockSamples = 10;
inline constexpr SinkTraits kSink = {.block_bytes = kBlockSamples * sizeof(uint16_t),
                                     .sample_bytes = sizeof(uint16_t),
                                     .reads_payload = true};

// Of `samples` samples from `first` on.
inline std::vector<uint16_t> Samples(uint64_t first, size_t samples = kBlockSamples) {
  std::vector<uint16_t> out(samples);
  for (size_t i = 0; i < samples; ++i) out[i] = static_cast<uint16_t>(first + i);
  return out;
}

// The recording's blocks, in memory that outlives them; `done` counts those that nobody needs.
class Blocks {
 public:
  explicit Blocks(uint64_t first_sample = 0) : first_sample_(first_sample) {}

  Arrived Next(size_t samples = kBlockSamples, uint32_t flags = 0) {
    Arrived block{.header = {.sequence = sequence_++,
                             .sample_index = first_sample_,
                             .payload_bytes = static_cast<uint32_t>(samples * sizeof(uint16_t)),
                             .flags = flags},
                  .done = [this] { ++done; }};
    if ((flags & dataplane::kBlockMissing) != 0) {
      block.header.payload_bytes = 0;
    } else {
      payloads_.push_back(std::make_unique<std::vector<uint16_t>>(Samples(first_sample_, samples)));
      block.payload = std::as_bytes(std::span(*payloads_.back()));
    }
    first_sample_ += samples;
    return block;
  }

  int done = 0;

 private:
  uint64_t first_sample_;
  uint64_t sequence_ = 0;
  std::vector<std::unique_ptr<std::vector<uint16_t>>> payloads_;
};

inline std::vector<uint16_t> SamplesOf(std::span<const std::byte> payload) {
  std::vector<uint16_t> out(payload.size() / sizeof(uint16_t));
  std::memcpy(out.data(), payload.data(), payload.size());
  return out;
}

}  // namespace tapedeck::gpu_worker::pace
