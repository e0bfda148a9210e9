// The CRC32C of memory of the device, by all lanes of a thread block. C++17, for nvcc and for g++.
//
// A lane takes runs of 64 bytes, its own of each row of the block, as the arithmetic in
// crc32c_math.h has it for one word.
#pragma once

#include <cstdint>

#include "gpu_worker/device/crc32c_math.h"
#include "gpu_worker/sockets/block.h"

namespace tapedeck::gpu_worker::sockets {

namespace crc = device::crc;

inline constexpr uint64_t kRunBytes = 64;

// The register behind a run that began with `state`.
TAPEDECK_ANYWHERE uint32_t ConsumeRun(uint32_t state, const unsigned char* run,
                                      const crc::Factor& by_lane) {
  const auto* const words = reinterpret_cast<const crc::Word*>(run);
  crc::Word all[kRunBytes / sizeof(crc::Word)];
  for (uint32_t i = 0; i < kRunBytes / sizeof(crc::Word); ++i) all[i] = words[i];
  for (const crc::Word& word : all) {
    for (const uint32_t lane : word.lane) state = crc::Multiply(by_lane, state ^ lane);
  }
  return state;
}

// For all lanes; barriers, too. `data` lies at a multiple of 16 bytes and was written before a
// barrier of the block. `by_lane` is the factor x^32, in memory that the block reads fast.
TAPEDECK_ANYWHERE uint32_t Crc32cByBlock(const unsigned char* data, uint64_t bytes,
                                         const crc::Factor& by_lane) {
  const auto lanes = static_cast<int64_t>(LanesOfBlock());
  const auto runs = static_cast<int64_t>(bytes / kRunBytes);
  const uint32_t by_row = crc::Shift(kRunBytes * LanesOfBlock());
  // Rows end with the last run, so that the first row may be short.
  const int64_t short_by = (lanes - runs % lanes) % lanes;
  uint32_t sum = 0;
  for (int64_t i = LaneOfBlock() - short_by; i < runs; i += lanes) {
    if (i < 0) continue;
    // CRC32C starts with a register of ones.
    sum = crc::Multiply(sum, by_row) ^ ConsumeRun(i == 0 ? ~0u : 0, data + i * kRunBytes, by_lane);
  }
  const uint32_t weight = crc::Shift(kRunBytes * (LanesOfBlock() - 1 - LaneOfBlock()));
  const uint32_t whole = XorOfBlock(crc::Multiply(sum, weight));
  const uint64_t done = static_cast<uint64_t>(runs) * kRunBytes;
  return ~crc::Consume(runs == 0 ? ~0u : whole, data + done, bytes - done);
}

}  // namespace tapedeck::gpu_worker::sockets
