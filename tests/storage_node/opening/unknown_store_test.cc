// A LUN of a kind of store that this build does not have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "storage_node/format/config.h"
#include "storage_node/node/check.h"
#include "tests/storage_node/files_below.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class UnknownStore : public testing::Test {
 protected:
  UnknownStore() {
    const auto made = node_.node().luns().CreateLun(
        {.name = "luns/other", .store = "posix", .members = {node_.dir().Make("other")}}, "");
    EXPECT_TRUE(made.ok()) << made.status();
    node_.RecordAndSeal(3);
    node_.Stop();
    for (const std::string& file :
         {member() + "/.tapedeck/lun.json", node_.state_dir() + "/luns/l.json"}) {
      auto lun = format::DecodeLun(BytesOf(file));
      EXPECT_TRUE(lun.ok()) << lun.status();
      lun->store = "block";
      std::ofstream(file, std::ios::binary) << format::EncodeLun(*lun, 0);
    }
  }

  std::string member() const { return node_.dir().path() + "/m0"; }

  absl::Status Attach() {
    return node_.node().luns().AttachLun({.members = {member()}}, "").status();
  }

  NodeFixture node_;
};

const auto kSays = HasSubstr("no store 'block' in this build, only posix, ");

TEST_F(UnknownStore, IsOfflineAndNothingOfItIsTouched) {
  const auto before = FilesBelow(member());
  node_.Start();
  const auto lun = node_.node().luns().GetLun("luns/l");
  ASSERT_TRUE(lun.ok()) << lun.status();
  EXPECT_EQ(lun->state, services::LunState::kOffline);
  EXPECT_EQ(lun->store, "block");
  EXPECT_THAT(lun->cause, kSays);
  EXPECT_EQ(node_.node().luns().GetLun("luns/other")->state, services::LunState::kReady);
  EXPECT_EQ(Reason(node_.Record().status()), "LUN_OFFLINE");
  EXPECT_EQ(Reason(Attach()), "MEMBER_UNUSABLE");
  EXPECT_TRUE(node_.node().luns().DeleteLun("luns/l", true).ok()) << "it is forgotten";
  EXPECT_EQ(FilesBelow(member()), before);
}

TEST_F(UnknownStore, IsNotAttachedNorOverwritten) {
  const auto before = FilesBelow(member());
  node_.Start();
  ASSERT_TRUE(node_.node().luns().DeleteLun("luns/l", true).ok());
  const absl::Status attached = Attach();
  EXPECT_EQ(Reason(attached), "MEMBER_UNUSABLE");
  EXPECT_THAT(std::string(attached.message()), AllOf(HasSubstr(member()), kSays));
  EXPECT_EQ(Reason(node_.node()
                       .luns()
                       .CreateLun({.name = "luns/n", .store = "posix", .members = {member()}}, "")
                       .status()),
            "MEMBER_UNUSABLE");
  EXPECT_EQ(FilesBelow(member()), before);
}

TEST_F(UnknownStore, IsDamageToACheck) {
  std::vector<std::string> found;
  const ManualClock clock;
  const auto totals =
      node::CheckStorage(node_.state_dir(), clock, [&](const node::Finding& finding) {
        found.push_back(finding.where + ": " + finding.detail);
      });
  ASSERT_TRUE(totals.ok()) << totals.status();
  EXPECT_THAT(found, testing::ElementsAre(AllOf(HasSubstr("luns/l: "), kSays)));
}

}  // namespace
}  // namespace tapedeck::storage_node
