// What the doctor finds of LUNs: over real directories, and figures.
#include "storage_node/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "storage_node/doctor/disk_rate.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node::doctor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename LunCheck>
std::vector<std::string> CodesFor(LunCheck check, const LunFacts& lun) {
  Findings findings;
  check(lun, findings);
  std::vector<std::string> codes;
  for (const auto& finding : findings) codes.push_back(finding.code);
  return codes;
}

class DoctorLunTest : public ::testing::Test {
 protected:
  TempDir dir_;
  LunFacts lun_{.config = {.name = "luns/l0", .store = "posix", .members = {dir_.Make("member")}},
                .limit_bytes = 1000 << 20,
                .used_bytes = 0,
                .least_bytes = 1 << 20};
};

TEST_F(DoctorLunTest, Room) {
  EXPECT_THAT(CodesFor(CheckFreeSpace, lun_), IsEmpty());
  lun_.used_bytes = 950 << 20;
  EXPECT_THAT(CodesFor(CheckFreeSpace, lun_), ElementsAre("LUN_NEARLY_FULL"));
  lun_.used_bytes = (1000 << 20) - 1000;
  EXPECT_THAT(CodesFor(CheckFreeSpace, lun_), ElementsAre("LUN_FULL"));
  lun_.config.full_policy = services::FullPolicy::kRing;
  EXPECT_THAT(CodesFor(CheckFreeSpace, lun_), IsEmpty());
}

TEST_F(DoctorLunTest, ARingMakesRoomWithinItsDisksAlone) {
  lun_.config.full_policy = services::FullPolicy::kRing;
  lun_.least_bytes = UINT64_MAX;
  EXPECT_THAT(CodesFor(CheckFreeSpace, lun_), IsEmpty());
  lun_.limit_bytes = UINT64_MAX;
  EXPECT_THAT(CodesFor(CheckFreeSpace, lun_), ElementsAre("LUN_FULL"));
}

TEST_F(DoctorLunTest, RoomForLessThanTenMinutes) {
  lun_.written_bytes_per_s = 1 << 20;
  EXPECT_THAT(CodesFor(CheckFreeSpace, lun_), IsEmpty());
  lun_.written_bytes_per_s = 2 << 20;
  EXPECT_THAT(CodesFor(CheckFreeSpace, lun_), ElementsAre("LUN_NEARLY_FULL"));
}

TEST_F(DoctorLunTest, ASlowRateIsNotNone) {
  lun_.limit_bytes = 148'000'000;
  lun_.written_bytes_per_s = 466'877;
  Findings findings;
  CheckFreeSpace(lun_, findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].what, HasSubstr("full in 317 s at the recent 0.47 MB/s"));
}

TEST_F(DoctorLunTest, MembersLeaveNothingBehind) {
  EXPECT_THAT(CodesFor(CheckMembers, lun_), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(lun_.config.members[0]));
  lun_.config.members.push_back(dir_.path() + "/missing");
  EXPECT_THAT(CodesFor(CheckMembers, lun_), ElementsAre("MEMBER_UNUSABLE"));
  lun_.offline = absl::NotFoundError("gone");
  EXPECT_THAT(CodesFor(CheckMembers, lun_), ElementsAre("LUN_OFFLINE", "MEMBER_UNUSABLE"));
}

TEST_F(DoctorLunTest, MemberThatMayNotBeWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  std::filesystem::permissions(lun_.config.members[0], std::filesystem::perms::owner_read |
                                                           std::filesystem::perms::owner_exec);
  EXPECT_THAT(CodesFor(CheckMembers, lun_), ElementsAre("MEMBER_UNUSABLE"));
}

TEST_F(DoctorLunTest, RateOfADirectoryIsMeasuredAndNothingStays) {
  const auto rate = MeasureRate(lun_.config.members[0]);
  if (absl::IsResourceExhausted(rate.status())) GTEST_SKIP() << rate.status();
  ASSERT_TRUE(rate.ok()) << rate.status();
  EXPECT_GT(*rate, 0);
  EXPECT_TRUE(std::filesystem::is_empty(lun_.config.members[0]));
  EXPECT_FALSE(MeasureRate(dir_.path() + "/missing").ok());
}

// What lies on a device is only read.
TEST_F(DoctorLunTest, RateOfAnImageIsReadAlone) {
  const std::string image = dir_.MakeImage("image", 32 << 20);
  const auto before = std::filesystem::last_write_time(image);
  const auto rate = MeasureRate(image);
  ASSERT_TRUE(rate.ok()) << rate.status();
  EXPECT_GT(*rate, 0);
  EXPECT_EQ(std::filesystem::last_write_time(image), before);
}

TEST_F(DoctorLunTest, ChannelsThatAreFasterThanAnyDisk) {
  const auto rate = MeasureRate(lun_.config.members[0]);
  if (absl::IsResourceExhausted(rate.status())) GTEST_SKIP() << rate.status();
  lun_.channels = {{.datatype = "cf32_le", .sample_rate = 1e6}, {.datatype = "nonsense"}};
  EXPECT_EQ(BytesPerS(lun_), 8e6);
  Findings findings;
  lun_.channels[0].sample_rate = 1e15;
  CheckDisks({lun_}, {.measure = false}, findings);
  EXPECT_THAT(findings, IsEmpty());
  CheckDisks({lun_}, {.measure = true}, findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "DISK_TOO_SLOW");
  EXPECT_THAT(findings[0].what, HasSubstr("luns/l0"));
}

TEST(DoctorNodeTest, EachLunHasACheckOfItsOwn) {
  TempDir dir;
  auto node = node::StorageNode::Create({.state_dir = dir.path() + "/state"}).value();
  const std::string member = dir.Make("member");
  ASSERT_TRUE(
      node->luns().CreateLun({.name = "luns/l0", .store = "posix", .members = {member}}, "").ok());
  std::vector<std::string> names;
  for (const Check& check : node->DoctorChecks()) {
    names.push_back(check.name);
    Findings findings;
    check.run({}, findings);
    for (const auto& finding : findings) EXPECT_EQ(finding.code, "IO_URING_BLOCKED");
  }
  EXPECT_THAT(names, ElementsAre("engine", "disks", "state", "luns/l0"));
}

}  // namespace
}  // namespace tapedeck::storage_node::doctor
