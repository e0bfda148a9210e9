// Recordings whose samples are known, on any kind of store.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "services/model/seams/view.h"
#include "tests/bytes.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node::view {

inline constexpr uint64_t kBlockSamples = kBlockBytes / 8;  // cf32_le
inline constexpr uint64_t kPieceSamples = 4096 / 8;
inline constexpr char kChannel[] = "luns/l/channels/c";

struct StoreCase {
  std::string store;
  int members = 1;
};
inline const StoreCase kStores[] = {{"posix"},     {"posix", 3}, {"direct"},
                                    {"direct", 2}, {"memory"},   {"device"}};
inline std::string NameOfCase(const testing::TestParamInfo<StoreCase>& info) {
  return info.param.store + std::to_string(info.param.members);
}

// A tone, `turns` of the sample rate, as block `sequence` has it.
inline std::vector<std::byte> Tone(uint64_t sequence, double turns, float amplitude,
                                   uint64_t samples = kBlockSamples) {
  std::vector<std::complex<float>> tone(samples);
  for (uint64_t n = 0; n < samples; ++n) {
    const double whole = turns * static_cast<double>(sequence * kBlockSamples + n);
    tone[n] = std::polar(amplitude,
                         static_cast<float>(2 * std::numbers::pi * (whole - std::floor(whole))));
  }
  const auto bytes = std::as_bytes(std::span(tone));
  return {bytes.begin(), bytes.end()};
}

// Empty: a block that never came.
inline void Push(Recorder& recorder, uint64_t sequence, const std::vector<std::byte>& payload,
                 uint64_t block_samples = kBlockSamples) {
  std::optional<dataplane::Block> block;
  ASSERT_TRUE(recorder.executor->RunUntil([&] {
    block = recorder.admission.ring->Take();
    return block.has_value();
  }));
  PutBytes(payload, block->memory());
  block->header() = {.sequence = sequence,
                     .sample_index = sequence * block_samples,
                     .capture_ns = static_cast<int64_t>(1 + sequence),
                     .payload_bytes = static_cast<uint32_t>(payload.size()),
                     .crc32c = dataplane::Crc32c(payload),
                     .flags = payload.empty() ? uint32_t{dataplane::kBlockMissing} : uint32_t{0}};
  const auto flow = recorder.admission.sink->Push(&*block);
  ASSERT_TRUE(flow.ok() && *flow == dataplane::Flow::kMoved) << flow.status();
}

inline uint32_t Loudest(const services::Spectrogram& made, uint32_t row) {
  const auto begin = made.powers.begin() + row * made.columns;
  return static_cast<uint32_t>(std::max_element(begin, begin + made.columns) - begin);
}
inline float At(const services::Spectrogram& made, uint32_t row, uint32_t column) {
  return made.powers[row * made.columns + column];
}

}  // namespace tapedeck::storage_node::view
