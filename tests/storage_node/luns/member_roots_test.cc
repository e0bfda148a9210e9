// Beneath which directories members may lie, at every door through which one comes.
#include "storage_node/luns/member_roots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/storage_node/loop_device.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class MemberRootsTest : public testing::Test {
 protected:
  MemberRootsTest() { fs::create_directory_symlink(dir_.Make("outside"), inside("way_out")); }

  std::string inside(const std::string& name = "") const { return dir_.path() + "/root/" + name; }
  absl::Status Check(const std::string& root, const std::string& member) const {
    return luns::MemberRoots({dir_.path() + "/none", root}).Check({.members = {member}});
  }

  const TempDir dir_;
  const std::string root_ = dir_.Make("root");
};

TEST_F(MemberRootsTest, WhatAPathLeadsToCounts) {
  EXPECT_TRUE(Check(inside(), inside("m0")).ok());
  EXPECT_TRUE(Check(inside(), inside("a/../m0")).ok());
  EXPECT_TRUE(Check(inside("way_out"), dir_.path() + "/outside/m0").ok());
  for (const std::string& member :
       {dir_.path() + "/outside", inside("../outside"), inside("way_out"), inside("way_out/m0"),
        inside(), dir_.path() + "/rooted", std::string("/")}) {
    const absl::Status status = Check(inside(), member);
    EXPECT_EQ(Reason(status), "MEMBER_UNUSABLE") << member;
    EXPECT_THAT(std::string(status.message()), HasSubstr("--member-root /")) << member;
    EXPECT_EQ(services::ReasonOf(status)->metadata.at("member"), member);
  }
  EXPECT_TRUE(luns::MemberRoots().Check({.members = {"/anything"}}).ok());
  EXPECT_TRUE(luns::MemberRoots({"/srv"}).Check({.members = {"pool:name"}}).ok());
}

// udev's links lead from /dev/disk to /dev, and nobody else makes such.
TEST_F(MemberRootsTest, ABlockDeviceMayBeNamedByALinkBeneathDevAlone) {
  const LoopDevice loop(dir_.MakeImage("image", 1 << 20));
  if (loop.path().empty()) GTEST_SKIP() << "no loop device can be made here";
  const std::string folder = "/dev/tapedeck-test-" + std::to_string(getpid());
  fs::create_directory(folder);
  fs::create_symlink(loop.path(), folder + "/by-name");
  EXPECT_TRUE(Check(folder, folder + "/by-name").ok());
  EXPECT_TRUE(Check("/dev", loop.path()).ok());
  EXPECT_EQ(Reason(Check(folder, loop.path())), "MEMBER_UNUSABLE");
  fs::create_symlink(loop.path(), inside("by-name"));
  EXPECT_EQ(Reason(Check(inside(), inside("by-name"))), "MEMBER_UNUSABLE");
  fs::remove_all(folder);
}

class RootedNodeTest : public testing::Test {
 protected:
  void StartWith(const std::string& root) {
    node_.Restart({.member_roots = luns::MemberRoots({root})});
  }
  services::LunCatalog& luns() { return node_.node().luns(); }

  NodeFixture node_;
};

TEST_F(RootedNodeTest, NothingIsMadeAddedOrAttachedElsewhere) {
  const std::string root = node_.dir().Make("root");
  const std::string elsewhere = node_.dir().Make("elsewhere");
  const std::string member = node_.dir().Make("root/m");
  StartWith(root);
  const services::Lun lun{.name = "luns/n", .store = "posix", .members = {elsewhere}};
  EXPECT_EQ(Reason(luns().CreateLun(lun, "").status()), "MEMBER_UNUSABLE");
  EXPECT_TRUE(fs::is_empty(elsewhere));
  ASSERT_TRUE(luns().CreateLun({.name = "luns/n", .store = "posix", .members = {member}}, "").ok());
  EXPECT_EQ(Reason(luns()
                       .UpdateLun(services::LunUpdate{.name = "luns/n"}.Set(&services::Lun::members,
                                                                            {member, elsewhere}),
                                  "")
                       .status()),
            "MEMBER_UNUSABLE");
  EXPECT_TRUE(fs::is_empty(elsewhere));
  ASSERT_TRUE(luns().DetachLun("luns/n").ok());
  fs::rename(member, elsewhere + "/m");
  EXPECT_EQ(Reason(luns().AttachLun({.members = {elsewhere + "/m"}}, "").status()),
            "MEMBER_UNUSABLE");
}

// As it was before somebody said where members lie.
TEST_F(RootedNodeTest, ALunThatLiesElsewhereIsOfflineAndUntouched) {
  const std::string recording = node_.RecordAndSeal(2);
  const fs::path mark = node_.dir().path() + "/m0/.tapedeck/lun.json";
  const auto written = fs::last_write_time(mark);
  StartWith(node_.dir().Make("root"));
  const auto offline = luns().GetLun("luns/l");
  ASSERT_TRUE(offline.ok()) << offline.status();
  EXPECT_EQ(offline->state, services::LunState::kOffline);
  EXPECT_THAT(offline->cause, HasSubstr("--member-root"));
  EXPECT_EQ(Reason(node_.Record().status()), "LUN_OFFLINE");
  EXPECT_EQ(fs::last_write_time(mark), written);
  StartWith(node_.dir().path());
  EXPECT_EQ(node_.PlayAll(recording).size(), 2u);
}

}  // namespace
}  // namespace tapedeck::storage_node
