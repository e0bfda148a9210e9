#include "gpu_worker/device/cuda/crc32c_math.h"

#include <gtest/gtest.h>

#include <vector>

#include "dataplane/crc32c.h"

namespace tapedeck::gpu_worker::device::cuda::crc {
namespace {

// What the kernel computes, one thread after the other and put together without its tree.
uint32_t InParallel(const std::vector<Word>& message, size_t bytes) {
  const auto count = static_cast<int64_t>(bytes / sizeof(Word));
  const uint32_t shift = Shift(kStrideBytes);
  const auto stride = [](uint32_t state) { return Multiply(state, shift); };
  uint32_t state = count == 0 ? ~0u : 0;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    const uint32_t sum = ThreadSum(message.data(), count, thread, stride);
    if (sum == 0) continue;
    state ^= Multiply(sum, Shift(sizeof(Word) * (kThreads - 1 - thread)));
  }
  const auto* raw = reinterpret_cast<const unsigned char*>(message.data());
  const size_t whole = static_cast<size_t>(count) * sizeof(Word);
  return ~Consume(state, raw + whole, bytes - whole);
}

TEST(Crc32cMath, ThreadsAgreeWithTheCpu) {
  std::vector<Word> message((3 << 20) / sizeof(Word));
  uint32_t value = 1;
  for (Word& word : message) {
    for (uint32_t& lane : word.lane) lane = value = value * 1664525 + 1013904223;
  }
  const auto bytes = std::as_bytes(std::span(message));
  for (const size_t size :
       {0, 1, 15, 16, 17, 4096, 65536, 65537, 131072, 131088, 1 << 20, (1 << 20) + 5, 3 << 20}) {
    EXPECT_EQ(InParallel(message, size), dataplane::Crc32c(bytes.first(size))) << size;
  }
}

TEST(Crc32cMath, ShiftsPutNeighboursTogether) {
  constexpr Shifts kShifts = MakeShifts();
  for (uint32_t level = 0; level < 8; ++level) {
    EXPECT_EQ(kShifts.level[level], Shift(sizeof(Word) << level));
  }
  for (uint32_t group = 0; group < kGroups; ++group) {
    EXPECT_EQ(kShifts.group[group], Shift(sizeof(Word) * kGroupThreads * (kGroups - 1 - group)));
  }
}

}  // namespace
}  // namespace tapedeck::gpu_worker::device::cuda::crc
