// Rows of the catalog that are wrong: what the members say counts, for whoever looks, for a LUN's
// account and for what policies delete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>

#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

class AccountTest : public testing::Test {
 protected:
  // As a state directory that failed may leave rows.
  void ChangeRows(const std::function<void(format::Manifest*)>& change) {
    const auto catalog = catalog::Catalog::Open(node_.state_dir() + "/catalog.sqlite").value();
    auto rows = catalog->ListRecordings({.lun = "l", .channel = "c"}).value();
    for (auto& row : rows) {
      change(&row.manifest);
      catalog->PutRecording(row.name, row.manifest);
    }
  }
  std::string ManifestOf(const std::string& recording) {
    std::ifstream file(node_.Directory(recording) + "/manifest.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  uint64_t used() { return node_.node().luns().GetLun("luns/l")->used_bytes; }

  NodeFixture node_;
};

TEST_F(AccountTest, WhoLooksAtARowThatIsBehindChangesNothing) {
  const std::string name = node_.RecordAndSeal(3);
  const std::string manifest = ManifestOf(name);
  const uint64_t before = used();
  ChangeRows([](format::Manifest* row) { row->state = services::RecordingState::kRecording; });
  for (int i = 0; i < 5; ++i) {
    const services::Recording shown = node_.Get(name);
    EXPECT_EQ(shown.state, services::RecordingState::kRecording);
    EXPECT_THAT(shown.cause, testing::HasSubstr("the node closes it"));
    EXPECT_EQ(node_.node().recordings().ListRecordings("luns/l/channels/c")->size(), 1u);
    EXPECT_EQ(ManifestOf(name), manifest);
    EXPECT_EQ(used(), before);
  }
  EXPECT_EQ(node_.PlayAll(name).size(), 3u) << "who needs it closed takes what the members say";
  EXPECT_EQ(node_.Get(name).state, services::RecordingState::kSealed);
  EXPECT_EQ(ManifestOf(name), manifest);
  EXPECT_EQ(used(), before);
}

TEST_F(AccountTest, NoPolicyDeletesOnWhatRowsAloneSay) {
  services::LunUpdate update{.name = "luns/l"};
  update.Set(&services::Lun::max_fill_percent, uint32_t{80});
  ASSERT_TRUE(node_.node().luns().UpdateLun(update, "").ok());
  for (int i = 0; i < 3; ++i) node_.RecordAndSeal(4);
  const uint64_t before = used();
  node_.Stop();
  ChangeRows([](format::Manifest* row) { row->blocks = 400; });
  node_.Start();
  EXPECT_TRUE(node_.executor().RunUntil([&] { return used() == before; }));
  const auto all = node_.node().recordings().ListRecordings("luns/l/channels/c");
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->size(), 3u);
  for (const services::Recording& recording : *all) EXPECT_EQ(recording.blocks, 4u);
}

// What was kept while the state directory failed stays kept.
TEST_F(AccountTest, WhatTheMembersSayIsKeptStays) {
  const std::string name = node_.RecordAndSeal(200);
  ASSERT_TRUE(node_.node().recorder().KeepRecording(name, true).ok());
  node_.Stop();
  ChangeRows([](format::Manifest* row) { row->kept = false; });
  node_.Start();
  services::LunUpdate update{.name = "luns/l"};
  update.Set(&services::Lun::max_fill_percent, uint32_t{10});
  ASSERT_TRUE(node_.node().luns().UpdateLun(update, "").ok());
  EXPECT_TRUE(node_.executor().RunUntil([&] { return node_.Get(name).kept; }));
  EXPECT_EQ(node_.PlayAll(name).size(), 200u);
}

}  // namespace
}  // namespace tapedeck::storage_node
