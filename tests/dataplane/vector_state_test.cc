// Built for processors that have such registers alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/crc/crc32c.h"

namespace tapedeck::dataplane {
namespace {

// Of the first four registers; whatever is compiled for SSE leaves their upper halves alone.
std::array<uint64_t, 8> UpperHalves() {
  std::array<uint64_t, 8> halves{};
  asm volatile(
      "vextractf128 $1, %%ymm0, 0(%0)\n"
      "vextractf128 $1, %%ymm1, 16(%0)\n"
      "vextractf128 $1, %%ymm2, 32(%0)\n"
      "vextractf128 $1, %%ymm3, 48(%0)\n"
      :
      : "r"(halves.data())
      : "memory");
  return halves;
}

void FillUpperHalves() {
  asm volatile(
      "vpcmpeqd %%xmm0, %%xmm0, %%xmm0\n"
      "vinsertf128 $1, %%xmm0, %%ymm0, %%ymm0\n"
      :
      :
      : "xmm0");
}

bool AreEmpty(const std::array<uint64_t, 8>& halves) {
  return std::ranges::all_of(halves, [](uint64_t half) { return half == 0; });
}

class VectorStateTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("avx")) GTEST_SKIP() << "the processor has no AVX";
  }
};

TEST_F(VectorStateTest, IsCleared) {
  FillUpperHalves();
  const auto filled = UpperHalves();
  ClearVectorState();
  const auto cleared = UpperHalves();
  EXPECT_FALSE(AreEmpty(filled));
  EXPECT_TRUE(AreEmpty(cleared));
}

TEST_F(VectorStateTest, ACrcLeavesNothing) {
  std::vector<std::byte> bytes(1 << 20, std::byte{7});
  FillUpperHalves();
  const uint32_t crc = Crc32c(bytes);
  const auto left = UpperHalves();
  EXPECT_TRUE(AreEmpty(left));
  EXPECT_NE(crc, 0u);
}

}  // namespace
}  // namespace tapedeck::dataplane
