#include "services/copy/block_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tapedeck::services::copying {
namespace {

using Ranges = std::map<uint64_t, uint64_t>;

TEST(BlockSetTest, NumbersBesideEachOtherAreOneRange) {
  BlockSet blocks;
  for (const uint64_t number : {5u, 3u, 9u, 4u, 4u, 10u}) blocks.Add(number);
  EXPECT_EQ(blocks.ranges(), (Ranges{{3, 6}, {9, 11}}));
  EXPECT_EQ(blocks.size(), 5u);
  EXPECT_EQ(blocks.end(), 11u);
  EXPECT_TRUE(blocks.Has(3));
  EXPECT_TRUE(blocks.Has(5));
  EXPECT_FALSE(blocks.Has(6));
  EXPECT_FALSE(blocks.Has(2));
}

TEST(BlockSetTest, NothingIsEmpty) {
  EXPECT_EQ(BlockSet().end(), 0u);
  EXPECT_EQ(BlockSet().size(), 0u);
  EXPECT_FALSE(BlockSet().Has(0));
  EXPECT_EQ(BlockSet().Without(BlockSet()).size(), 0u);
}

TEST(BlockSetTest, IsWhatASetOfNumbersIs) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    BlockSet one;
    BlockSet other;
    std::set<uint64_t> ones;
    std::set<uint64_t> others;
    for (uint32_t i = random() % 60; i > 0; --i) {
      const uint64_t number = random() % 80;
      one.Add(number);
      ones.insert(number);
    }
    for (uint32_t i = random() % 60; i > 0; --i) {
      const uint64_t number = random() % 80;
      other.Add(number);
      others.insert(number);
    }
    const BlockSet rest = one.Without(other);
    uint64_t expected = 0;
    for (uint64_t number = 0; number < 80; ++number) {
      EXPECT_EQ(one.Has(number), ones.contains(number)) << seed;
      const bool left = ones.contains(number) && !others.contains(number);
      EXPECT_EQ(rest.Has(number), left) << seed;
      expected += left ? 1 : 0;
    }
    EXPECT_EQ(rest.size(), expected) << seed;
    EXPECT_EQ(one.size(), ones.size()) << seed;
  }
}

}  // namespace
}  // namespace tapedeck::services::copying
