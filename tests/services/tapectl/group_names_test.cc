#include "services/tapectl/group_names.h"

#include <gtest/gtest.h>

namespace tapedeck::services::tapectl {
namespace {

GroupRecording Member(const std::string& id, uint32_t number, int64_t start_time_ns,
                      const std::string& original = "") {
  return {.recording = {.name = id, .start_time_ns = start_time_ns, .original = original},
          .member = {.id = id, .name = "array", .number = number, .members = 3}};
}

TEST(GroupNamesTest, AMemberIsAWorkerAndAChannel) {
  const auto plain = ParseMember("w1:7500=a:7400/l0/c1");
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->worker, "w1:7500");
  EXPECT_EQ(plain->storage, "a:7400");
  EXPECT_EQ(plain->channel, "luns/l0/channels/c1");
  EXPECT_FALSE(plain->source.has_value());

  const auto other = ParseMember("[::1]:1=[fe80::2]:2/l0/c1,synth:seed=5,noise=0");
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->worker, "[::1]:1");
  EXPECT_EQ(other->storage, "[fe80::2]:2");
  ASSERT_TRUE(other->source.has_value());
  EXPECT_EQ(other->source->name, "synth");
  EXPECT_EQ(other->source->parameters.size(), 2u);
}

TEST(GroupNamesTest, WhatIsNoMemberIsNamed) {
  for (const char* bad : {"", "=", "w:1", "w:1=", "w:1=a:1", "w:1=a:1/l0", "w=a:1/l0/c",
                          ":1=a:1/l/c", "w:1=a/l0/c1", "w:1=a:/l0/c1", "w:1=a:1/l0/c1,"}) {
    EXPECT_FALSE(ParseMember(bad).ok()) << bad;
  }
}

TEST(GroupNamesTest, TheNewestGroupOfANameCounts) {
  const auto members =
      MembersOf({Member("old", 1, 10), Member("new", 3, 21), Member("new", 1, 20)}, "array");
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].member.number, 1u);
  EXPECT_EQ(members[1].member.number, 3u);
  EXPECT_EQ(members[0].member.id, "new");
  EXPECT_EQ(MembersOf({Member("old", 1, 10), Member("new", 1, 20)}, "old").size(), 1u);
  EXPECT_TRUE(MembersOf({Member("old", 1, 10)}, "other").empty());
}

TEST(GroupNamesTest, ACopyStandsInForItsOriginalAlone) {
  const auto both = MembersOf({Member("g", 1, 30, "luns/x"), Member("g", 1, 10)}, "g");
  ASSERT_EQ(both.size(), 1u);
  EXPECT_EQ(both[0].recording.original, "");
  EXPECT_EQ(MembersOf({Member("g", 1, 30, "luns/x")}, "g").size(), 1u);
}

TEST(GroupNamesTest, AStageIsToldTheMembersNumber) {
  const StageSpec stage{"file", {{"path", std::string("/x-%m.bin")}, {"replace", true}}};
  EXPECT_EQ(std::get<std::string>(ForMember(stage, 12).parameters.at("path")), "/x-12.bin");
  EXPECT_EQ(ForMember({"null", {}}, 1), (StageSpec{"null", {}}));
}

}  // namespace
}  // namespace tapedeck::services::tapectl
