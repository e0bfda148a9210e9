#include "services/parts/joiner.h"

#include <gtest/gtest.h>

#include <random>

#include "services/errors.h"
#include "services/parts/spread.h"
#include "tests/services/parts/joined_order.h"

namespace tapedeck::services::parts {
namespace {

constexpr uint64_t kJoinSamples = 10;
constexpr uint64_t kJoinSpread = 32;

// Of these blocks of the stream.
std::vector<uint64_t> Samples(const std::vector<uint64_t>& blocks) {
  std::vector<uint64_t> samples;
  for (const uint64_t block : blocks) samples.push_back(block * kJoinSamples);
  return samples;
}

std::vector<uint64_t> Range(uint64_t first, uint64_t end, uint64_t step) {
  std::vector<uint64_t> blocks;
  for (uint64_t i = first; i < end; i += step) blocks.push_back(i);
  return blocks;
}

JoinedOrder JoinBlocks(const std::vector<std::vector<uint64_t>>& parts, uint64_t first = 0) {
  std::vector<std::vector<uint64_t>> samples;
  samples.reserve(parts.size());
  for (const auto& part : parts) samples.push_back(Samples(part));
  return Join(samples, kJoinSamples, kJoinSpread, first);
}

TEST(JoinerTest, PartsAreTheStream) {
  const JoinedOrder order = JoinBlocks({Range(0, 300, 3), Range(1, 300, 3), Range(2, 300, 3)});
  EXPECT_TRUE(order.status.ok()) << order.status;
  EXPECT_EQ(order.blocks, 300u);
  EXPECT_EQ(order.missing.size(), 0u);
}

TEST(JoinerTest, AMissingPartIsAGapForEachOfItsBlocks) {
  const JoinedOrder order = JoinBlocks({Range(0, 300, 3), Range(2, 300, 3)});
  EXPECT_EQ(order.blocks, 300u);
  const auto gone = Range(1, 300, 3);
  EXPECT_EQ(order.missing, std::set<uint64_t>(gone.begin(), gone.end()));
}

TEST(JoinerTest, WhatComesLateFindsItsPlace) {
  // Block 5 was dealt again when others up to 5 + spread had been; the ring has 8 slots.
  std::vector<uint64_t> late = Range(0, 5, 1);
  for (uint64_t i = 6; i < 5 + kJoinSpread; ++i) late.push_back(i);
  late.push_back(5);
  for (uint64_t i = 5 + kJoinSpread; i < 100; ++i) late.push_back(i);
  const JoinedOrder alone = JoinBlocks({late});
  EXPECT_EQ(alone.blocks, 100u);
  EXPECT_EQ(alone.missing.size(), 0u);
  const JoinedOrder beside = JoinBlocks({late, Range(100, 120, 1)});
  EXPECT_EQ(beside.blocks, 120u);
  EXPECT_EQ(beside.missing.size(), 0u);
}

TEST(JoinerTest, APartHearsHowFarItIsWhoeverPushes) {
  // The second fills its ring with what waits for the first, which ends then.
  std::vector<uint64_t> last = Range(20, 28, 1);
  for (uint64_t i = 28; i < 100; i += 2) last.push_back(i);
  const JoinedOrder order = JoinBlocks({Range(0, 20, 1), last, Range(29, 100, 2)});
  EXPECT_EQ(order.blocks, 100u);
  EXPECT_EQ(order.missing.size(), 0u);
}

TEST(JoinerTest, WhatCameTwiceIsGivenOnce) {
  const JoinedOrder order = JoinBlocks({Range(0, 50, 1), Range(20, 60, 1)});
  EXPECT_EQ(order.blocks, 60u);
  EXPECT_EQ(order.missing.size(), 0u);
  EXPECT_EQ(order.counts.twice, 30u);
}

// Also while the sink does not take the first of the two yet.
TEST(JoinerTest, WhatComesTwiceAtAnyTimeIsGivenOnce) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<std::vector<uint64_t>> parts(3);
    uint64_t twice = 0;
    for (uint64_t i = 0; i < 300; ++i) {
      const uint64_t part = random() % 3;
      parts[part].push_back(i);
      if (random() % 3 != 0) continue;
      parts[(part + 1) % 3].push_back(i);
      ++twice;
    }
    const JoinedOrder order = JoinBlocks(parts);
    EXPECT_TRUE(order.status.ok()) << order.status;
    EXPECT_EQ(order.blocks, 300u);
    EXPECT_EQ(order.missing.size(), 0u);
    EXPECT_EQ(order.counts.twice, twice);
  }
}

TEST(JoinerTest, BeginsInTheMiddle) {
  const JoinedOrder order = JoinBlocks({Range(0, 300, 2), Range(1, 300, 2)}, 100);
  EXPECT_EQ(order.blocks, 200u);
  EXPECT_EQ(order.missing.size(), 0u);
  EXPECT_EQ(order.counts.twice, 0u);
}

TEST(JoinerTest, WhatNoPartHasIsRefused) {
  EXPECT_EQ(ReasonOf(Join({{5}}, kJoinSamples, kJoinSpread).status)->reason, "PROTOCOL_VIOLATION");
  // Behind by more than the spread.
  const JoinedOrder back = JoinBlocks({{0, 100, 1}});
  EXPECT_EQ(ReasonOf(back.status)->reason, "PROTOCOL_VIOLATION");
  EXPECT_EQ(ReasonOf(Join({{UINT64_MAX / 10 * 10}}, 10, kJoinSpread).status)->reason,
            "PROTOCOL_VIOLATION");
}

TEST(JoinerTest, NoPartHasAnything) {
  const JoinedOrder order = JoinBlocks({{}, {}});
  EXPECT_TRUE(order.status.ok());
  EXPECT_EQ(order.blocks, 0u);
}

TEST(SpreadTest, IsBoundedInMemory) {
  EXPECT_EQ(SpreadOf(4096), kMostSpread);
  EXPECT_EQ(SpreadOf(1 << 20), 256u);
  EXPECT_EQ(SpreadOf(8 << 20), 32u);
}

}  // namespace
}  // namespace tapedeck::services::parts
