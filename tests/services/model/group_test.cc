#include "services/model/recording/group.h"

#include <gtest/gtest.h>

namespace tapedeck::services::model {
namespace {

GroupMember Second() { return {.id = "5f-1", .name = "array", .number = 2, .members = 4}; }

RecordingGroup SecondOf() {
  return {.id = "5f-1", .name = "array", .number = 2, .members = 4, .clock = "system"};
}

TEST(GroupTest, ARecordingSaysWhichMemberItIs) {
  EXPECT_EQ(MemberOf(SecondOf()), Second());
  EXPECT_EQ(MemberOf(std::nullopt), std::nullopt);
  // The jobs of one start on all devices have this alone.
  const RecordingGroup devices{.id = "worker-1"};
  EXPECT_TRUE(CheckGroup(devices).ok());
  EXPECT_EQ(MemberOf(devices), std::nullopt);
}

TEST(GroupTest, WhatCannotBeIsRefused) {
  EXPECT_TRUE(CheckGroup(Second()).ok());
  EXPECT_TRUE(CheckGroup(SecondOf()).ok());
  const auto refused = [](auto change) {
    RecordingGroup group = SecondOf();
    change(group);
    return !CheckGroup(group).ok();
  };
  EXPECT_TRUE(refused([](RecordingGroup& group) { group.id = ""; }));
  EXPECT_TRUE(refused([](RecordingGroup& group) { group.name = "../x"; }));
  EXPECT_TRUE(refused([](RecordingGroup& group) { group.number = 0; }));
  EXPECT_TRUE(refused([](RecordingGroup& group) { group.number = 5; }));
  EXPECT_TRUE(refused([](RecordingGroup& group) { group.members = kMaxGroupMembers + 1; }));
  EXPECT_TRUE(refused([](RecordingGroup& group) { group.members = 0; }));
  EXPECT_TRUE(refused([](RecordingGroup& group) { group.clock = std::string(300, 'x'); }));
  EXPECT_TRUE(refused([](RecordingGroup& group) { group.clock_error_ns = -1; }));
}

}  // namespace
}  // namespace tapedeck::services::model
