#include "services/model/part.h"

#include <gtest/gtest.h>

#include "services/errors.h"

namespace tapedeck::services::model {
namespace {

TEST(PartTest, StandsAmongTheLabels) {
  Labels labels = {{"source", "synth"}};
  EXPECT_EQ(PartOf(labels).value(), std::nullopt);
  const Part part{.number = 2, .parts = 3, .whole = "20261127T135638Z-0a1b2c3d"};
  SetPart(part, &labels);
  EXPECT_EQ(labels.at("part"), "2/3");
  EXPECT_EQ(PartOf(labels).value(), part);
  EXPECT_EQ(NameOfPart(part), "part 2 of 3");
}

TEST(PartTest, RefusesWhatSaysNoPart) {
  for (const char* text :
       {"", "1", "0/3", "4/3", "1/17", "01/3", "1/3/3", "-1/3", "1/ 3", "1/99999999999"}) {
    const auto part = PartOf({{"part", text}, {"part_of", "r"}});
    EXPECT_EQ(ReasonOf(part.status())->reason, "ARGUMENT_INVALID") << text;
    EXPECT_EQ(KnownPartOf({{"part", text}, {"part_of", "r"}}), std::nullopt);
  }
  EXPECT_FALSE(PartOf({{"part", "1/3"}}).ok());
  EXPECT_FALSE(PartOf({{"part_of", "r"}}).ok());
  // It names a directory.
  for (const char* id : {"", "../r", "a/b", ".r"}) {
    EXPECT_EQ(ReasonOf(PartOf({{"part", "1/3"}, {"part_of", id}}).status())->reason,
              "NAME_INVALID");
  }
}

TEST(PartTest, SaysHowManyPartsHaveEachBlock) {
  Labels labels;
  const Part part{.number = 1, .parts = 2, .copies = 2, .whole = "r"};
  SetPart(part, &labels);
  EXPECT_EQ(labels.at("part_copies"), "2");
  EXPECT_EQ(PartOf(labels).value(), part);
  SetPart({.number = 1, .parts = 2, .whole = "r"}, &labels);
  EXPECT_FALSE(labels.contains("part_copies"));
  for (const char* text : {"", "0", "1", "3", "02", "x"}) {
    labels["part_copies"] = text;
    EXPECT_EQ(ReasonOf(PartOf(labels).status())->reason, "ARGUMENT_INVALID") << text;
  }
  EXPECT_EQ(WithPartOf({}, {{"part_copies", "2"}}), Labels());
}

TEST(PartTest, AnUpdateOfLabelsLeavesIt) {
  const Labels before = {{"part", "1/2"}, {"part_of", "r"}, {"site", "north"}};
  const Labels after = {{"part", "1/2"}, {"part_of", "r"}, {"site", "south"}};
  EXPECT_EQ(WithPartOf(before, {{"site", "south"}}), after);
  EXPECT_EQ(WithPartOf(before, {{"site", "south"}, {"part", "2/2"}}), after);
  // A whole one does not become a part.
  EXPECT_EQ(WithPartOf({}, {{"part", "1/2"}, {"part_of", "r"}}), Labels());
}

}  // namespace
}  // namespace tapedeck::services::model
