#include "services/model/group.h"

#include <gtest/gtest.h>

namespace tapedeck::services::model {
namespace {

GroupMember Second() { return {.id = "5f-1", .name = "array", .number = 2, .members = 4}; }

TEST(GroupTest, LabelsSayWhichMemberItIs) {
  Labels labels = {{"datatype", "cf32_le"}};
  SetGroup(Second(), &labels);
  EXPECT_EQ(labels, (Labels{{"datatype", "cf32_le"},
                            {"group", "5f-1"},
                            {"group_name", "array"},
                            {"group_member", "2/4"}}));
  EXPECT_EQ(KnownGroupOf(labels), Second());
}

TEST(GroupTest, WhatIsNotSaidInFullIsNoGroup) {
  Labels labels;
  SetGroup(Second(), &labels);
  for (const char* bad : {"", "2", "0/4", "5/4", "2/65", "2/4/6", "-1/4", "a/b"}) {
    labels["group_member"] = bad;
    EXPECT_FALSE(KnownGroupOf(labels).has_value()) << bad;
  }
  // The jobs of one start on all devices have this alone.
  EXPECT_FALSE(KnownGroupOf({{"group", "worker/1/x"}}).has_value());
}

TEST(GroupTest, UsersDoNotChangeIt) {
  Labels before = {{"site", "north"}, {"clock", "system"}};
  SetGroup(Second(), &before);
  Labels after = WithGroupOf(before, {{"site", "south"}, {"group", "x"}, {"starts_at", "now"}});
  EXPECT_EQ(KnownGroupOf(after), Second());
  EXPECT_EQ(after["site"], "south");
  EXPECT_EQ(after["clock"], "system");
  EXPECT_FALSE(after.contains("starts_at"));
  const Labels own = {{"clock", "a rubidium"}, {"group", "mine"}};
  EXPECT_EQ(WithGroupOf({{"site", "north"}}, own), own);
}

TEST(GroupTest, WhatCannotBeIsRefused) {
  EXPECT_TRUE(CheckGroup(Second()).ok());
  const auto refused = [](auto change) {
    GroupMember member = Second();
    change(member);
    return !CheckGroup(member).ok();
  };
  EXPECT_TRUE(refused([](GroupMember& member) { member.id = ""; }));
  EXPECT_TRUE(refused([](GroupMember& member) { member.name = "../x"; }));
  EXPECT_TRUE(refused([](GroupMember& member) { member.number = 0; }));
  EXPECT_TRUE(refused([](GroupMember& member) { member.number = 5; }));
  EXPECT_TRUE(refused([](GroupMember& member) { member.members = kMaxGroupMembers + 1; }));
}

}  // namespace
}  // namespace tapedeck::services::model
