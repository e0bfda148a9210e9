// A channel whose channel.json is lost: its recordings say that it was there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/scratch_file.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;

constexpr char kChannel[] = "luns/l/channels/c";

class LostChannel : public testing::TestWithParam<int> {
 protected:
  LostChannel() : node_("posix", GetParam()), name_(node_.RecordAndSeal(6)) {}

  std::string File() const { return node_.dir().path() + "/m0/c/channel.json"; }
  void ForgetCatalog() const {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::remove(node_.state_dir() + "/catalog.sqlite" + suffix);
    }
  }
  services::Channel Channel() {
    return node_.node().channels().GetChannel(kChannel).value_or(services::Channel());
  }

  NodeFixture node_;
  const std::string name_;
};

TEST_P(LostChannel, IsMadeAgainByItsRecordings) {
  for (const bool is_emptied : {false, true}) {
    node_.Stop();
    ForgetCatalog();
    if (is_emptied) WriteFile(File(), "");
    if (!is_emptied) fs::remove(File());
    node_.Start();
    EXPECT_EQ(Channel().block_bytes, kBlockBytes);
    EXPECT_EQ(Channel().datatype, "cf32_le");
    EXPECT_EQ(node_.PlayAll(name_).size(), 6u);
    EXPECT_TRUE(fs::file_size(File()) > 0);
  }
}

TEST_P(LostChannel, IsMadeAgainBesideWhatOthersHavePutThere) {
  node_.Stop();
  fs::remove(File());
  const std::string theirs = node_.dir().path() + "/m0/c/readme.md";
  WriteFile(theirs, "theirs");
  node_.Start();
  EXPECT_EQ(node_.PlayAll(name_).size(), 6u);
  EXPECT_EQ(ReadFile(theirs), "theirs");
}

TEST_P(LostChannel, IsMadeAgainAsTheCatalogHadIt) {
  auto update = services::ChannelUpdate().Set(&services::Channel::sample_rate, 5);
  update.name = kChannel;
  ASSERT_TRUE(node_.node().channels().UpdateChannel(update, "").ok());
  node_.Stop();
  fs::remove(File());
  node_.Start();
  EXPECT_EQ(Channel().sample_rate, 5);  // its recording has another
  EXPECT_EQ(node_.PlayAll(name_).size(), 6u);
}

TEST_P(LostChannel, IsLeftAloneWhereItsFileIsDamaged) {
  node_.Stop();
  ForgetCatalog();
  const std::string text = ReadFile(File());
  WriteFile(File(), text.substr(0, text.size() / 2));
  node_.Start();
  EXPECT_EQ(ReadFile(File()), text.substr(0, text.size() / 2));
  EXPECT_TRUE(fs::exists(node_.Directory(name_) + "/data"));
}

TEST_P(LostChannel, WithoutRecordingsIsGone) {
  ASSERT_TRUE(node_.node().recordings().DeleteRecording(name_).ok());
  node_.Stop();
  fs::remove(File());
  node_.Start();
  EXPECT_TRUE(absl::IsNotFound(node_.node().channels().GetChannel(kChannel).status()));
}

INSTANTIATE_TEST_SUITE_P(Members, LostChannel, testing::Values(1, 2));

}  // namespace
}  // namespace tapedeck::storage_node
