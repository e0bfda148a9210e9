#include "dataplane/block/sequence_mark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tapedeck::dataplane {
namespace {

std::vector<std::pair<uint64_t, uint64_t>> HolesOf(const SequenceMark& mark) {
  std::vector<std::pair<uint64_t, uint64_t>> holes;
  mark.ForEachHole([&](uint64_t first, uint64_t count) { holes.emplace_back(first, count); });
  return holes;
}

TEST(SequenceMarkTest, RisesOverWhatCameEarly) {
  SequenceMark mark;
  for (const uint64_t sequence : {5, 1, 2}) EXPECT_TRUE(mark.Add(sequence));
  EXPECT_FALSE(mark.Add(2));
  EXPECT_EQ(mark.mark(), 0u);
  EXPECT_EQ(mark.end(), 6u);
  EXPECT_THAT(HolesOf(mark), testing::ElementsAre(std::pair(0, 1), std::pair(3, 2)));
  EXPECT_TRUE(mark.Add(0));
  EXPECT_FALSE(mark.Add(0));
  EXPECT_EQ(mark.mark(), 3u);
  EXPECT_TRUE(mark.Has(2));
  EXPECT_FALSE(mark.Has(3));
  EXPECT_TRUE(mark.Has(5));
}

TEST(SequenceMarkTest, ForgetsOneAndKeepsThoseAbove) {
  SequenceMark mark;
  for (uint64_t sequence = 0; sequence < 6; ++sequence) mark.Add(sequence);
  mark.Remove(2);
  EXPECT_EQ(mark.mark(), 2u);
  EXPECT_THAT(HolesOf(mark), testing::ElementsAre(std::pair(2, 1)));
  EXPECT_TRUE(mark.Add(2));
  EXPECT_EQ(mark.mark(), 6u);
  mark.Add(8);
  mark.Remove(8);
  EXPECT_EQ(mark.end(), 6u);
}

TEST(SequenceMarkTest, TakesAllBelowAtOnce) {
  SequenceMark mark;
  for (const uint64_t sequence : {2, 4, 5, 9}) mark.Add(sequence);
  mark.AddBelow(4);
  EXPECT_EQ(mark.mark(), 6u);
  mark.AddBelow(3);
  EXPECT_EQ(mark.mark(), 6u);
  EXPECT_THAT(HolesOf(mark), testing::ElementsAre(std::pair(6, 3)));
}

}  // namespace
}  // namespace tapedeck::dataplane
