// Losses that are told together, whole and in parts.
#include "services/model/recording/lost.h"

#include <gtest/gtest.h>

namespace tapedeck::services::model {
namespace {

const Annotation kWhole{
    .sample_start = 1000, .sample_count = 500, .label = kLostLabel, .comment = TextOfLost(40, 3)};

TEST(LostTest, OfAWholeSpanTheWordsNeedNoPlace) {
  EXPECT_EQ(kWhole.comment, "40 samples in 3 places of this span");
  const LostTogether expected{.samples = 40, .places = 3, .first = 1000, .end = 1500};
  EXPECT_EQ(LostTogetherIn(kWhole), expected);
  EXPECT_EQ(PartOf(kWhole, 0, 1500), kWhole);
}

TEST(LostTest, APartNamesTheWholeSpan) {
  const Annotation part = PartOf(kWhole, 1100, 1200);
  EXPECT_EQ(part.sample_start, 1100u);
  EXPECT_EQ(part.sample_count, 100u);
  EXPECT_EQ(part.comment, "40 samples in 3 places of samples 1000 to 1499 of the stream");
  EXPECT_EQ(LostTogetherIn(part), LostTogetherIn(kWhole));
  const Annotation less = PartOf(part, 1150, UINT64_MAX);
  EXPECT_EQ(less.sample_start, 1150u);
  EXPECT_EQ(less.sample_count, 50u);
  EXPECT_EQ(less.comment, part.comment);
}

TEST(LostTest, WhatHasOtherWordsIsNone) {
  Annotation one = kWhole;
  for (const char* comment :
       {"", "40 samples in 3 places of that span", "040 samples in 3 places of this span",
        "40 samples in 3 places of samples 1200 to 1499 of the stream",
        "40 samples in 3 places of samples 1000 to 1299 of the stream",
        "40 samples in 3 places of samples 1000 to 18446744073709551615 of the stream"}) {
    one.comment = comment;
    EXPECT_EQ(LostTogetherIn(one), std::nullopt) << comment;
    EXPECT_EQ(PartOf(one, 1100, 1200).comment, comment);
  }
  one = kWhole;
  one.foreign = true;
  EXPECT_EQ(LostTogetherIn(one), std::nullopt);
  one = kWhole;
  one.sample_count = 0;
  EXPECT_EQ(PartOf(one, 1100, 1200), one) << "a point";
}

}  // namespace
}  // namespace tapedeck::services::model
