#include "services/tapectl/jobs/group_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tapedeck::services::tapectl {
namespace {

using testing::HasSubstr;
using testing::Not;

GroupRecording Member(const std::string& id, uint32_t number, int64_t open_time_ns,
                      const std::string& original = "") {
  return {.recording = {.name = id, .open_time_ns = open_time_ns, .original = original},
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

TEST(GroupNamesTest, AMemberMayBeInParts) {
  const auto parts = ParseMember("w1:7500=a:7400,b:7400/l0/c1,synth:seed=5,noise=0");
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(parts->storage, "a:7400,b:7400");
  EXPECT_EQ(parts->channel, "luns/l0/channels/c1");
  EXPECT_EQ(parts->source->parameters.size(), 2u);
  EXPECT_FALSE(ParseMember("w1:7500=a:7400,b/l0/c1").ok());

  const auto part = [](uint32_t number, const std::string& whole) {
    GroupRecording made = Member("g", 1, 10);
    made.recording.name = "luns/l0/channels/c1/recordings/r";
    made.recording.part = {.number = number, .parts = 2, .whole = whole};
    return made;
  };
  EXPECT_EQ(MembersOf({part(1, "r"), part(2, "r"), Member("g", 2, 10)}, "g")->size(), 2u);
  EXPECT_FALSE(MembersOf({part(1, "r"), part(2, "other")}, "g").ok());
}

TEST(GroupNamesTest, WhatIsNoMemberIsNamed) {
  for (const char* bad : {"", "=", "w:1", "w:1=", "w:1=a:1", "w:1=a:1/l0", "w=a:1/l0/c",
                          ":1=a:1/l/c", "w:1=a/l0/c1", "w:1=a:/l0/c1", "w:1=a:1/l0/c1,"}) {
    EXPECT_FALSE(ParseMember(bad).ok()) << bad;
  }
}

TEST(GroupNamesTest, TheNewestGroupOfANameCounts) {
  const auto members =
      MembersOf({Member("old", 1, 10), Member("new", 3, 21), Member("new", 1, 20)}, "array")
          .value();
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].member.number, 1u);
  EXPECT_EQ(members[1].member.number, 3u);
  EXPECT_EQ(members[0].member.id, "new");
  EXPECT_EQ(MembersOf({Member("old", 1, 10), Member("new", 1, 20)}, "old")->size(), 1u);
  EXPECT_TRUE(MembersOf({Member("old", 1, 10)}, "other")->empty());
}

TEST(GroupNamesTest, ACopyStandsInForItsOriginalAlone) {
  const auto both = MembersOf({Member("g", 1, 30, "luns/x"), Member("g", 1, 10)}, "g");
  ASSERT_EQ(both->size(), 1u);
  EXPECT_EQ((*both)[0].recording.original, "");
  EXPECT_EQ(MembersOf({Member("g", 1, 30, "luns/x")}, "g")->size(), 1u);
  EXPECT_EQ(MembersOf({Member("g", 1, 30, "luns/x"), Member("g", 1, 40, "luns/x")}, "g")->size(),
            1u);
  EXPECT_EQ(
      MembersOf({Member("g", 1, 30, "luns/y"), Member("g", 1, 10), Member("g", 1, 40, "luns/x")},
                "g")
          ->size(),
      1u);
}

// What a stranger has recorded so.
TEST(GroupNamesTest, MembersThatDoNotAgreeAreNotMixed) {
  const auto why = [](GroupRecording stranger) {
    stranger.recording.name = "luns/x/\033[31m";
    return std::string(MembersOf({Member("g", 1, 10), Member("g", 2, 10), std::move(stranger)}, "g")
                           .status()
                           .message());
  };
  EXPECT_THAT(why(Member("g", 2, 20)), HasSubstr("both say that they are member 2"));
  EXPECT_THAT(why(Member("g", 2, 20)), HasSubstr("\\x1b"));
  GroupRecording other = Member("g", 3, 20);
  EXPECT_EQ(why(other), "");
  other.recording.group.emplace().starts_at_ns = 1;
  EXPECT_THAT(why(other), HasSubstr("do not agree"));
  other = Member("g", 3, 20);
  other.member.members = 4;
  EXPECT_THAT(why(other), HasSubstr("do not agree"));
  other = Member("g", 3, 20);
  other.member.name = "else";
  EXPECT_THAT(why(other), HasSubstr("do not agree"));
  EXPECT_FALSE(MembersOf({Member("g", 1, 30, "luns/x"), Member("g", 1, 40, "luns/y")}, "g").ok());
}

// A group that is called as another one's ID.
TEST(GroupNamesTest, AnIdIsNoName) {
  GroupRecording stranger = Member("forged", 1, 99);
  stranger.member.name = "g";
  const auto found = MembersOf({Member("g", 1, 10), stranger}, "g");
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().member.id, "g");
}

TEST(GroupNamesTest, EachMemberHasAPlayer) {
  const std::vector<GroupRecording> all = {Member("g", 1, 1), Member("g", 3, 1)};
  using Workers = std::vector<std::string>;
  EXPECT_EQ(PlayersOf(all, {}, "w:0").value(), (Workers{"w:0", "w:0"}));
  EXPECT_EQ(PlayersOf(all, {"b:1=3,2", "[::1]:2=1"}, "w:0").value(), (Workers{"[::1]:2", "b:1"}));
  const auto why = [&](std::vector<std::string> players) {
    return std::string(PlayersOf(all, players, "w:0").status().message());
  };
  EXPECT_THAT(why({"a:1=1"}), HasSubstr("member 3"));
  EXPECT_THAT(why({"a:1=1,3", "b:1=3"}), HasSubstr("member 3 is named twice"));
  EXPECT_THAT(why({"a:1=1,4"}), HasSubstr("there are 3 members"));
  for (const char* bad : {"", "=", "a:1", "a:1=", "a=1", ":1=1", "a:1=0", "a:1=65", "a:1=1,",
                          "a:1=x", "a:1=-1", "a:1=99999999999", "\xff\x1b=1"}) {
    EXPECT_THAT(why({bad}), HasSubstr("is not WORKER=NUMBER")) << bad;
    EXPECT_THAT(why({bad}), Not(HasSubstr("\x1b"))) << bad;
  }
}

TEST(GroupNamesTest, AStageIsToldTheMembersNumber) {
  const StageSpec stage{"file", {{"path", std::string("/x-%m.bin")}, {"replace", true}}};
  EXPECT_EQ(std::get<std::string>(ForMember(stage, 12).parameters.at("path")), "/x-12.bin");
  EXPECT_EQ(ForMember({"null", {}}, 1), (StageSpec{"null", {}}));
}

}  // namespace
}  // namespace tapedeck::services::tapectl
