// A LUN that promises more than its file systems have: told where it is made and listed, and before
// a recording begins that cannot fit.
#include "storage_node/luns/disk_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node::luns {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kMoreThanAnyDisk = uint64_t{1} << 55;

class DiskSpaceTest : public ::testing::Test {
 protected:
  services::Lun Get() {
    const auto lun = node_.node().luns().GetLun("luns/l");
    EXPECT_TRUE(lun.ok()) << lun.status();
    return lun.value_or(services::Lun());
  }
  services::Lun SetCapacity(uint64_t bytes) {
    services::LunUpdate update;
    update.name = "luns/l";
    update.Set(&services::Lun::capacity_bytes, bytes);
    const auto lun = node_.node().luns().UpdateLun(update, "");
    EXPECT_TRUE(lun.ok()) << lun.status();
    return lun.value_or(services::Lun());
  }

  NodeFixture node_{"posix", 1, kMoreThanAnyDisk};
};

TEST_F(DiskSpaceTest, IsToldWhileItIsSo) {
  const std::string told = Get().cause;
  EXPECT_THAT(told, HasSubstr("its capacity is 36028.80 TB"));
  EXPECT_THAT(told, HasSubstr("recordings end when these are full"));
  EXPECT_EQ(Get().state, services::LunState::kReady);
  EXPECT_EQ(node_.node().luns().ListLuns()->front().cause, told);
  EXPECT_EQ(SetCapacity(1 << 20).cause, "");
  EXPECT_EQ(SetCapacity(kMoreThanAnyDisk).cause, told);
  node_.Restart({});
  EXPECT_EQ(Get().cause, told) << "after a start";
}

TEST_F(DiskSpaceTest, ARecordingThatCannotFitIsNotBegun) {
  const auto space = SpaceOf(Get());
  ASSERT_TRUE(space.has_value());
  const uint64_t blocks = space->total_bytes / kBlockBytes + 1;
  const auto refused = node_.Record({.expected_blocks = blocks}).status();
  EXPECT_EQ(Reason(refused), "LUN_FULL") << refused;
  EXPECT_EQ(services::ReasonOf(refused)->metadata.at("member"), Get().members[0]);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("not started"));
  EXPECT_EQ(services::ReasonOf(refused)->metadata.at("lacks"), "disk") << "nothing is to delete";
  EXPECT_EQ(Get().recordings, 0U);
  EXPECT_EQ(Get().used_bytes, 0U) << "its room was not given back";
  EXPECT_TRUE(node_.Record().ok()) << "it does not say how long it will be";
}

class SpaceOfTest : public ::testing::Test {
 protected:
  TempDir dir_;
  services::Lun one_{.name = "luns/l", .members = {dir_.Make("a")}};
};

TEST_F(SpaceOfTest, MembersOnOneFileSystemShareIt) {
  const auto one = SpaceOf(one_);
  ASSERT_TRUE(one.has_value());
  EXPECT_GE(one->total_bytes, one->free_bytes);
  EXPECT_EQ(one->member, one_.members[0]);
  services::Lun two = one_;
  two.members.push_back(dir_.Make("b"));
  EXPECT_NEAR(SpaceOf(two)->total_bytes, one->total_bytes, 4096);
  two.copies = 2;
  EXPECT_NEAR(SpaceOf(two)->total_bytes, one->total_bytes / 2, 4096)
      << "each block lies there twice";
}

TEST_F(SpaceOfTest, WhatTellsNothingIsUnknown) {
  EXPECT_FALSE(SpaceOf({.name = "luns/l"}).has_value());
  EXPECT_FALSE(SpaceOf({.name = "luns/l", .members = {dir_.path() + "/none"}}).has_value());
  EXPECT_FALSE(SpaceOf({.name = "luns/l", .members = {"rados:pool"}}).has_value());
  EXPECT_FALSE(SpaceOf({.name = "luns/l", .members = {"/proc"}}).has_value()) << "it has no blocks";
  EXPECT_EQ(Shortage(kMoreThanAnyDisk, std::nullopt), "");
  EXPECT_TRUE(CheckFree(one_, UINT64_MAX, 0, std::nullopt).ok());
}

TEST_F(SpaceOfTest, ADiskIsLackingWhereDeletingMakesNoRoom) {
  const DiskSpace space{.free_bytes = 100, .total_bytes = 200, .member = "/a"};
  const auto lacks = [&](uint64_t used_bytes) {
    const auto reason = services::ReasonOf(CheckFree(one_, 150, used_bytes, space));
    return reason.has_value() && reason->metadata.contains("lacks");
  };
  EXPECT_TRUE(lacks(0));
  EXPECT_TRUE(lacks(49));
  EXPECT_FALSE(lacks(50));
}

TEST_F(SpaceOfTest, FilesWrittenBeforeAreRoom) {
  const DiskSpace space{.free_bytes = 100, .total_bytes = 200, .member = "/a"};
  EXPECT_EQ(Shortage(0, space), "") << "it has no capacity";
  EXPECT_EQ(Shortage(200, space), "");
  EXPECT_NE(Shortage(201, space), "");
  EXPECT_TRUE(CheckFree(one_, 100, 0, space).ok());
  EXPECT_EQ(Reason(CheckFree(one_, 101, 0, space)), "LUN_FULL");
  one_.prewrite_files = 2;
  one_.prewrite_bytes = 4096;
  EXPECT_TRUE(CheckFree(one_, 100 + 2 * 4096, 0, space).ok());
  EXPECT_EQ(Reason(CheckFree(one_, 101 + 2 * 4096, 0, space)), "LUN_FULL");
}

}  // namespace
}  // namespace tapedeck::storage_node::luns
