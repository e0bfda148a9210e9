// What a LUN does not take as a member, and what a crash leaves of one that it was to get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/storage_node/node/members_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RefusedMembers : public MembersFixture {
 protected:
  RefusedMembers() : MembersFixture(2) {}

  // Nothing is changed, and the reason says so.
  void ExpectRefused(const std::vector<std::string>& members, const std::string& reason,
                     const std::string& text) {
    const absl::Status status = SetMembers(members).status();
    EXPECT_EQ(Reason(status), reason) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
    ExpectMembers(2);
  }
};

using CutShort = RefusedMembers;
using CutShortOnFiles = RefusedMembers;
using CutShortOnDevices = RefusedMembers;

TEST_P(RefusedMembers, NoneGoesAndNoneChangesItsPlace) {
  MakeEmpty(2);
  const char* why = "Recordings are striped over them";
  ExpectRefused({member(0)}, "ARGUMENT_INVALID", why);
  ExpectRefused({member(1), member(0)}, "ARGUMENT_INVALID", why);
  ExpectRefused({member(2), member(0), member(1)}, "ARGUMENT_INVALID", why);
  ExpectRefused({member(0), member(2)}, "ARGUMENT_INVALID", why);
  ExpectRefused({}, "ARGUMENT_INVALID", "needs at least one member");
  ExpectRefused({member(0), member(1), member(1)}, "ARGUMENT_INVALID", "is given twice");
  EXPECT_TRUE(IsEmpty(member(2)));
  EXPECT_TRUE(SetMembers(Members(2)).ok()) << "those it has";
}

TEST_P(RefusedMembers, WhatIsNotFreeForIt) {
  MakeEmpty(2);
  const auto with = [&](const std::string& path) {
    return std::vector<std::string>{member(0), member(1), member(2), path};
  };
  ExpectRefused(with(member(3)), "MEMBER_UNUSABLE", member(3));
  const services::Lun other{.name = "luns/o", .store = GetParam(), .members = {MakeEmpty("o")}};
  ASSERT_TRUE(node_.node().luns().CreateLun(other, "").ok());
  ExpectRefused(with(other.members[0]), "MEMBER_UNUSABLE",
                GetParam() == "device" ? "in use by pid" : "already belongs to luns/o");
  EXPECT_TRUE(IsEmpty(member(2))) << "what was made for it is unmade";
  Grow(2, 3);
  ExpectWhole(node_.RecordAndSeal(6, 2), 6, 2);
}

TEST_P(RefusedMembers, WhatHoldsSomethingElse) {
  MakeEmpty(2);
  if (GetParam() == "device") {
    std::fstream(member(2), std::ios::in | std::ios::out) << "somebody's";
    ExpectRefused(Members(3), "MEMBER_UNUSABLE", "so it is left alone");
    EXPECT_EQ(TextOf(member(2)).substr(0, 10), "somebody's");
    return;
  }
  std::ofstream(member(2) + "/photo") << "somebody's";
  ExpectRefused(Members(3), "MEMBER_NOT_EMPTY", "photo");
  EXPECT_EQ(TextOf(member(2) + "/photo"), "somebody's");
  EXPECT_FALSE(fs::exists(member(2) + "/.tapedeck"));
  fs::create_directory(member(1) + "/inside");
  ExpectRefused({member(0), member(1), member(1) + "/inside"}, "MEMBER_UNUSABLE", "lies inside");
  ExpectRefused({member(0), member(1), node_.dir().path()}, "MEMBER_UNUSABLE", "contains");
}

TEST_P(RefusedMembers, ACopyOfOneItHas) {
  fs::copy(member(1), member(2), fs::copy_options::recursive);
  ExpectRefused(Members(3), "MEMBER_UNUSABLE", "it is member 1 of luns/l, or a copy of that");
}

TEST_P(RefusedMembers, MoreThanTheMostOrWhileItIsOffline) {
  std::vector<std::string> many = Members(2);
  while (many.size() <= services::model::kMaxMembers) many.push_back("/none");
  ExpectRefused(many, "ARGUMENT_INVALID", "more than 64");
  MakeEmpty(2);
  node_.Stop();
  fs::rename(member(1), member(1) + ".away");
  node_.Start();
  EXPECT_EQ(Reason(SetMembers(Members(3)).status()), "LUN_OFFLINE");
  EXPECT_TRUE(IsEmpty(member(2)));
}

TEST_P(RefusedMembers, WhileTheStateDirectoryTakesNothing) {
  MakeEmpty(2);
  fs::create_directory(state_file() + ".new");  // where the new one is written first
  ExpectRefused(Members(3), "MEMBER_UNUSABLE", state_file());
  EXPECT_TRUE(IsEmpty(member(2))) << "what was made for it is unmade";
  fs::remove(state_file() + ".new");
  Grow(2, 3);
  ExpectWhole(node_.RecordAndSeal(6), 6);
}

// Of a crash after all of them were written, and before the state directory was: the old LUN is
// whole, and takes what it has marked when it is told so again.
TEST_P(CutShort, BeforeTheStateDirectoryWasWritten) {
  const std::string before = node_.RecordAndSeal(6);
  KeepState();
  Grow(2, 4);
  ForgetChange();
  ExpectMembers(2);
  ExpectWhole(before, 6);
  const std::string between = node_.RecordAndSeal(6, 2);
  node_.MakeChannel("later", dataplane::CommitLevel::kWritten);
  const auto again = SetMembers(Members(4));
  ASSERT_TRUE(again.ok()) << again.status();
  const std::string after = node_.RecordAndSeal(8, 3);
  ExpectStriped(8, 4, 3);
  AttachElsewhere({member(3), member(2), member(1), member(0)});
  ExpectMembers(4);
  ExpectWhole(before, 6);
  ExpectWhole(between, 6, 2);
  ExpectWhole(after, 8, 3);
  EXPECT_EQ(node_.node().channels().ListChannels(kGrownLun)->size(), 2u);
}

TEST_P(CutShort, WhatItHasMarkedIsNobodyElses) {
  KeepState();
  Grow(2, 4);
  ForgetChange();
  const absl::Status other =
      node_.node()
          .luns()
          .CreateLun({.name = "luns/o", .store = GetParam(), .members = {member(2)}}, "")
          .status();
  EXPECT_EQ(Reason(other), "MEMBER_UNUSABLE");
  ExpectRefused({member(0), member(1), member(3)}, "MEMBER_UNUSABLE",
                "an interrupted change added it as member 3 of luns/l");
  Grow(2, 3);
}

// The change was made on the members, and nobody is left who knows it was not answered.
TEST_P(CutShort, AnotherNodeTakesTheLongerList) {
  const std::string before = node_.RecordAndSeal(6);
  KeepState();
  Grow(2, 3);
  ForgetChange();
  AttachElsewhere({member(1), member(0), member(2)});
  ExpectMembers(3);
  ExpectWhole(before, 6);
  ExpectWhole(node_.RecordAndSeal(6, 2), 6, 2);
  ExpectStriped(6, 3, 2);
}

TEST_P(CutShort, BeforeTheOldMembersWereTold) {
  const std::string before = node_.RecordAndSeal(6);
  KeepState();
  Grow(2, 3);
  node_.Stop();
  ForgetOnMembers();
  node_.Start();
  ExpectMembers(3);
  ExpectWhole(before, 6);
  ExpectWhole(node_.RecordAndSeal(6, 2), 6, 2);
  ExpectStriped(6, 3, 2);
  AttachElsewhere({member(0)});
  EXPECT_THAT(Get().cause, HasSubstr("lacks member 1"));
}

// A backup of it, or a node that was away.
// With the same members, but older policies.
TEST_P(CutShort, AnOldStateDirectoryPutsNoOldPolicyInForce) {
  const std::string name = node_.RecordAndSeal(6);
  KeepState();
  auto update = services::LunUpdate().Set(&services::Lun::max_age_ns, 3600 * dataplane::kSecondNs);
  update.name = kGrownLun;
  ASSERT_TRUE(node_.node().luns().UpdateLun(update, "").ok());
  node_.Stop();
  ForgetInState();
  node_.Start();
  EXPECT_EQ(Get().state, services::LunState::kOffline);
  EXPECT_THAT(Get().cause, HasSubstr("was changed 1 times, and the state directory, which is "
                                     "older, knows 0 changes; tapectl lun attach --member"));
  const auto attached = node_.node().luns().AttachLun({.members = Members(2)}, "");
  ASSERT_TRUE(attached.ok()) << attached.status();
  EXPECT_EQ(Get().max_age_ns, 3600 * dataplane::kSecondNs);
  ExpectWhole(name, 6);
}

TEST_P(CutShort, AnOldStateDirectoryMakesNoListShorter) {
  const std::string before = node_.RecordAndSeal(6);
  KeepState();
  Grow(2, 3);
  const std::string after = node_.RecordAndSeal(6, 2);
  node_.Stop();
  ForgetInState();
  const std::string said = TextOf(said_by(0));
  node_.Start();
  EXPECT_EQ(Get().state, services::LunState::kOffline);
  EXPECT_THAT(Get().cause,
              HasSubstr("has 3 members, and the state directory, which is older, "
                        "knows 2; tapectl lun attach --member " +
                        member(0) + " --member " + member(1) + " --member " + member(2)));
  EXPECT_TRUE(TextOf(said_by(0)) == said);
  const auto attached = node_.node().luns().AttachLun({.members = Members(3)}, "");
  ASSERT_TRUE(attached.ok()) << attached.status();
  ExpectMembers(3);
  ExpectWhole(before, 6);
  ExpectWhole(after, 6, 2);
}

// Made, and not yet marked: what is there is as good as empty.
TEST_P(CutShortOnFiles, BeforeTheNewOneHadItsMark) {
  MakeEmpty(2);
  fs::create_directory(member(2) + "/.tapedeck");
  std::ofstream(member(2) + "/.tapedeck/lock") << "1";
  std::ofstream(member(2) + "/.tapedeck/lun.json.new") << "{";
  Grow(2, 3);
}

TEST_P(CutShortOnFiles, AMemberThatCannotBeToldLeavesAllAsItWas) {
  MakeEmpty(2);
  fs::create_directory(member(1) + "/.tapedeck/lun.json.new");
  EXPECT_FALSE(SetMembers(Members(3)).ok());
  ExpectMembers(2);
  fs::remove(member(1) + "/.tapedeck/lun.json.new");
  node_.Start();
  ExpectMembers(2);
  Grow(2, 3);
}

// Its superblocks are the last that a new member gets.
TEST_P(CutShortOnDevices, BeforeTheNewOneWasWhole) {
  KeepState();
  Grow(2, 3);
  node_.Stop();
  for (const uint64_t at : {uint64_t{0}, kImageBytes - 4096}) {
    std::fstream image(member(2), std::ios::binary | std::ios::in | std::ios::out);
    image.seekp(static_cast<std::streamoff>(at));
    image << std::string(4096, '\0');
  }
  ForgetChange();
  EXPECT_EQ(Reason(node_.node()
                       .luns()
                       .CreateLun({.name = "luns/o", .store = "device", .members = {member(2)}}, "")
                       .status()),
            "MEMBER_UNUSABLE");
  const auto again = SetMembers(Members(3));
  ASSERT_TRUE(again.ok()) << again.status();
  ExpectWhole(node_.RecordAndSeal(6, 2), 6, 2);
  ExpectStriped(6, 3, 2);
}

TEST(RefusedMemberOfDevices, ThatIsSmaller) {
  NodeFixture node("device", 2, 0, 256 << 20);
  const std::string small = node.dir().MakeImage("small", 64 << 20);
  const services::Lun before = *node.node().luns().GetLun(kGrownLun);
  std::vector<std::string> members = before.members;
  members.push_back(small);
  const absl::Status status =
      node.node()
          .luns()
          .UpdateLun(services::LunUpdate{.name = kGrownLun}.Set(&services::Lun::members, members),
                     "")
          .status();
  EXPECT_EQ(Reason(status), "ARGUMENT_INVALID");
  EXPECT_THAT(std::string(status.message()), HasSubstr("much smaller than the others"));
  EXPECT_EQ(node.node().luns().GetLun(kGrownLun)->capacity_bytes, before.capacity_bytes);
}

// Until what it holds has gone round, the room beside that is nobody's.
TEST(RefusedMemberOfDevices, OfARingWithoutACapacity) {
  NodeFixture node("device", 1, 0, 256 << 20);
  const auto update = [&](services::LunUpdate change) {
    change.name = kGrownLun;
    return node.node().luns().UpdateLun(change, "").status();
  };
  const auto policy = services::FullPolicy::kRing;
  ASSERT_TRUE(update(services::LunUpdate().Set(&services::Lun::full_policy, policy)).ok());
  node.RecordAndSeal(4);
  const services::Lun before = *node.node().luns().GetLun(kGrownLun);
  const std::vector<std::string> members = {before.members[0],
                                            node.dir().MakeImage("m1", 256 << 20)};
  auto change = services::LunUpdate().Set(&services::Lun::members, members);
  const absl::Status status = update(change);
  EXPECT_EQ(Reason(status), "ARGUMENT_INVALID");
  EXPECT_THAT(std::string(status.message()), HasSubstr("is a ring, and its recordings"));
  change.Set(&services::Lun::capacity_bytes, before.capacity_bytes);
  EXPECT_TRUE(update(change).ok());
  EXPECT_EQ(node.node().luns().GetLun(kGrownLun)->capacity_bytes, before.capacity_bytes);
}

TEST(RefusedMemberOfMemory, ItHasNone) {
  NodeFixture node("memory", 0, 64 << 20);
  const absl::Status status = node.node()
                                  .luns()
                                  .UpdateLun(services::LunUpdate{.name = kGrownLun}.Set(
                                                 &services::Lun::members, {node.dir().Make("m")}),
                                             "")
                                  .status();
  EXPECT_EQ(Reason(status), "ARGUMENT_INVALID");
  EXPECT_THAT(std::string(status.message()), HasSubstr("members: a memory LUN has no members"));
}

INSTANTIATE_TEST_SUITE_P(Stores, RefusedMembers, testing::Values("posix", "direct", "device"),
                         MemberKindName);
INSTANTIATE_TEST_SUITE_P(Stores, CutShort, testing::Values("posix", "direct", "device"),
                         MemberKindName);
INSTANTIATE_TEST_SUITE_P(Stores, CutShortOnDevices, testing::Values("device"), MemberKindName);
INSTANTIATE_TEST_SUITE_P(Stores, CutShortOnFiles, testing::Values("posix", "direct"),
                         MemberKindName);

}  // namespace
}  // namespace tapedeck::storage_node
