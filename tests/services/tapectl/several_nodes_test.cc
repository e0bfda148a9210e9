#include "services/site/several_nodes.h"

#include <gtest/gtest.h>

#include "services/base/errors.h"
#include "services/tapectl/program/program.h"

namespace tapedeck::services::tapectl {
namespace {

Recording PartOf(const std::string& id, const model::Part& part, uint64_t blocks,
                 int64_t open_time_ns) {
  return {.name = "luns/l/channels/c/recordings/" + id,
          .state = RecordingState::kSealed,
          .blocks = blocks,
          .bytes = blocks * 10,
          .open_time_ns = open_time_ns,
          .close_time_ns = open_time_ns + 5,
          .part = part};
}

TEST(SeveralNodesTest, PartsAreOneRecording) {
  Recording salvaged = PartOf("a", {.number = 2, .parts = 2}, 9, 101);
  salvaged.state = RecordingState::kSalvaged;
  salvaged.missing_blocks = 2;
  const Recording whole{.name = "luns/l/channels/c/recordings/b", .blocks = 3, .open_time_ns = 300};
  const auto joined = JoinParts({PartOf("d", {.number = 3, .parts = 3}, 1, 200), salvaged, whole,
                                 PartOf("a", {.number = 1, .parts = 2}, 4, 100)});
  ASSERT_EQ(joined.size(), 3u);
  EXPECT_EQ(joined[0].recording.name, whole.name);
  EXPECT_EQ(joined[0].PartsText(), "-");
  EXPECT_EQ(joined[1].PartsText(), "part 3 of 3");
  EXPECT_EQ(joined[2].PartsText(), "2 parts");
  EXPECT_EQ(joined[2].recording.blocks, 11u);
  EXPECT_EQ(joined[2].recording.state, RecordingState::kSalvaged);
  EXPECT_EQ(joined[2].recording.open_time_ns, 100);
  EXPECT_EQ(joined[2].recording.close_time_ns, 106);
}

TEST(SeveralNodesTest, ABlockOfWhichThereAreCopiesCountsOnce) {
  std::vector<Recording> parts = {PartOf("a", {.number = 1, .parts = 2}, 10, 100),
                                  PartOf("a", {.number = 2, .parts = 2}, 12, 100)};
  parts[1].missing_blocks = 3;
  for (Recording& part : parts) part.part->copies = 2;
  const auto joined = JoinParts(parts);
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].PartsText(), "2 parts, 2 copies");
  EXPECT_EQ(joined[0].recording.blocks, 10u);
  std::vector<Recording> three;
  for (uint32_t number = 1; number <= 3; ++number) {
    three.push_back(PartOf("a", {.number = number, .parts = 3, .copies = 2}, 20, 100));
  }
  EXPECT_EQ(JoinParts(three)[0].recording.blocks, 30u);
}

TEST(SeveralNodesTest, OnlySomeCommandsTakeSeveral) {
  Program program;
  program.storage = "a:1,b:2";
  ASSERT_TRUE(NamesSeveral(program));
  ASSERT_EQ(EachNode(program).size(), 2u);
  EXPECT_EQ(EachNode(program)[1].storage, "b:2");
  for (const char* what :
       {"record", "play", "recordings list", "recordings copy", "jobs list", "nodes"}) {
    program.what = what;
    EXPECT_TRUE(CheckSeveral(program).ok()) << what;
  }
  program.what = "lun create";
  EXPECT_EQ(ReasonOf(CheckSeveral(program))->reason, "ARGUMENT_INVALID");
  program.storage = "a:1";
  EXPECT_TRUE(CheckSeveral(program).ok());
}

Recording Whole(const std::string& id, int64_t open_time_ns, const std::string& original = "") {
  return {.name = "luns/l/channels/c/recordings/" + id,
          .open_time_ns = open_time_ns,
          .original = original};
}

TEST(SeveralNodesTest, AnAmbiguousNameIsRefusedAndSaysBoth) {
  const auto both = ChooseMeant({{"a:1", Whole("r", 1)}, {"b:2", Whole("r", 1)}}, "l/c/r");
  ASSERT_EQ(ReasonOf(both.status())->reason, "NAME_INVALID");
  const std::string text(both.status().message());
  EXPECT_NE(text.find("a:1/luns/l/channels/c/recordings/r"), std::string::npos) << text;
  EXPECT_NE(text.find("b:2/luns/l/channels/c/recordings/r"), std::string::npos) << text;
  EXPECT_FALSE(ChooseMeant({{"a:1", Whole("r", 1)}, {"b:2", Whole("r", 1)}}, "l/c/latest").ok());
  EXPECT_FALSE(ChooseMeant({{"a:1", Whole("r", 1, "x")}, {"b:2", Whole("r", 1)}}, "l/c/r").ok());
}

TEST(SeveralNodesTest, OneOfSeveralIsMeant) {
  const auto node_of = [](const auto& meant) { return meant.ok() ? meant->front().node : ""; };
  EXPECT_EQ(node_of(ChooseMeant({{"a:1", Whole("r", 1)}, {"b:2", Whole("s", 2)}}, "l/c/latest")),
            "b:2");
  EXPECT_EQ(node_of(ChooseMeant({{"a:1", Whole("r", 1, "x")}, {"b:2", Whole("r", 1)}}, "r")),
            "b:2");
  EXPECT_EQ(node_of(ChooseMeant({{"b:2", Whole("r", 1, "x")}}, "r")), "b:2");
  EXPECT_EQ(ChooseMeant({{"a:1", PartOf("a", {.number = 1, .parts = 2}, 1, 1)},
                         {"b:2", PartOf("a", {.number = 2, .parts = 2}, 1, 2)}},
                        "l/c/a")
                ->size(),
            2u);
}

TEST(SeveralNodesTest, WhatIsOnTwoNodesIsNamedWithThem) {
  const auto names = WithNodes({{"a:1", Whole("r", 1)},
                                {"b:2", Whole("r", 1)},
                                {"b:2", Whole("s", 1)},
                                {"a:1", PartOf("p", {.number = 1, .parts = 2}, 1, 1)},
                                {"b:2", PartOf("p", {.number = 2, .parts = 2}, 1, 1)}});
  EXPECT_EQ(names[0].name, "a:1/luns/l/channels/c/recordings/r");
  EXPECT_EQ(names[1].name, "b:2/luns/l/channels/c/recordings/r");
  EXPECT_EQ(names[2].name, "luns/l/channels/c/recordings/s");
  EXPECT_EQ(names[3].name, "luns/l/channels/c/recordings/p");
  EXPECT_EQ(names[4].name, "luns/l/channels/c/recordings/p");
}

}  // namespace
}  // namespace tapedeck::services::tapectl
