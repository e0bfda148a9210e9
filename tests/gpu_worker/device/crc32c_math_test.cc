#include "gpu_worker/device/crc32c_math.h"

#include <gtest/gtest.h>

#include <vector>

#include "dataplane/crc/crc32c.h"

namespace tapedeck::gpu_worker::device::crc {
namespace {

Factor FactorOf(uint32_t factor) {
  Factor made{};
  for (uint32_t i = 0; i < 4 * 256; ++i) made.of[i / 256][i % 256] = FactorEntry(factor, i);
  return made;
}

// What the kernel computes, one thread after the other.
uint32_t InParallel(const std::vector<Word>& message, size_t bytes) {
  static const Factor stride = FactorOf(Shift(kStrideBytes));
  static const Factor lane = FactorOf(Shift(sizeof(uint32_t)));
  const auto count = static_cast<int64_t>(bytes / sizeof(Word));
  uint32_t state = count == 0 ? ~0u : 0;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    const uint32_t sum = ThreadSum(message.data(), count, thread, stride, lane);
    if (sum != 0) state ^= Multiply(Weight(thread), sum);
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

TEST(Crc32cMath, LookUpsMultiply) {
  const uint32_t number = Shift(12345);
  const Factor factor = FactorOf(number);
  for (const uint32_t value : {0u, 1u, kOne, 0xdeadbeefu, ~0u}) {
    EXPECT_EQ(Multiply(factor, value), Multiply(number, value)) << value;
  }
}

}  // namespace
}  // namespace tapedeck::gpu_worker::device::crc
