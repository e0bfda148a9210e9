// A LUN whose member is not there when the node starts.

#include <gtest/gtest.h>

#include <filesystem>

#include "absl/time/clock.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::LunState;

class OfflineLunTest : public testing::Test {
 protected:
  OfflineLunTest() {
    const auto made = deck_.node().luns().CreateLun(
        {.name = "luns/other", .store = "posix", .members = {deck_.dir().Make("other")}}, "");
    EXPECT_TRUE(made.ok()) << made.status();
  }

  void Unplug() { std::filesystem::rename(member(), member() + "-away"); }
  void PlugIn() { std::filesystem::rename(member() + "-away", member()); }
  std::string member() const { return deck_.dir().path() + "/m0"; }

  services::Lun Lun(const std::string& name) {
    const auto lun = deck_.node().luns().GetLun(name);
    EXPECT_TRUE(lun.ok()) << lun.status();
    return lun.value_or(services::Lun());
  }

  bool ComesOnline() {
    for (int i = 0; i < 200; ++i) {
      if (Lun("luns/l").state == LunState::kReady) return true;
      absl::SleepFor(absl::Milliseconds(50));
    }
    return false;
  }

  NodeFixture deck_;
};

TEST_F(OfflineLunTest, TheOthersWorkAndItsRecordingsAreStillListed) {
  const std::string recording = deck_.RecordAndSeal(3);
  deck_.Stop();
  Unplug();
  deck_.Start();
  EXPECT_EQ(Lun("luns/other").state, LunState::kReady);
  const services::Lun offline = Lun("luns/l");
  EXPECT_EQ(offline.state, LunState::kOffline);
  EXPECT_NE(offline.cause.find(member()), std::string::npos) << offline.cause;
  EXPECT_EQ(offline.recordings, 1);
  EXPECT_EQ(deck_.node().luns().ListLuns()->size(), 2);
  EXPECT_EQ(deck_.node().channels().ListChannels("luns/l")->size(), 1);
  EXPECT_EQ(deck_.node().recordings().ListRecordings("luns/l/channels/c")->size(), 1);

  EXPECT_EQ(Reason(deck_.Record().status()), "LUN_OFFLINE");
  EXPECT_EQ(Reason(deck_.Play(recording).status()), "LUN_OFFLINE");
  EXPECT_EQ(Reason(deck_.node().recordings().DeleteRecording(recording)), "LUN_OFFLINE");
  for (const std::string parent : {"luns/l", "luns/l/channels/c"}) {
    EXPECT_EQ(Reason(deck_.node().scrubs().StartScrub({.parent = parent}).status()), "LUN_OFFLINE");
  }
  EXPECT_EQ(Reason(deck_.node().channels().DeleteChannel("luns/l/channels/c")), "CHANNEL_IN_USE");
  EXPECT_EQ(
      Reason(deck_.node().luns().CreateLun({.name = "luns/l", .store = "posix"}, "").status()),
      "ARGUMENT_INVALID");
  EXPECT_EQ(Reason(deck_.node()
                       .luns()
                       .CreateLun({.name = "luns/l", .store = "posix", .members = {"/tmp"}}, "")
                       .status()),
            "LUN_EXISTS");
}

TEST_F(OfflineLunTest, ComesOnlineWhenItsMemberDoes) {
  const std::string recording = deck_.RecordAndSeal(3);
  const std::string open = [&] {
    auto recorder = deck_.Record();
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    EXPECT_TRUE(recorder->Push(0).ok());
    return recorder->admission.accept.recording;
  }();
  deck_.Stop();
  Unplug();
  deck_.Start();
  EXPECT_EQ(Lun("luns/l").state, LunState::kOffline);
  PlugIn();
  ASSERT_TRUE(ComesOnline());
  EXPECT_EQ(deck_.PlayAll(recording).size(), 3);
  EXPECT_NE(deck_.Get(open).state, services::RecordingState::kRecording);
  EXPECT_TRUE(deck_.Verify(deck_.RecordAndSeal(2)).empty());
  EXPECT_GE(Lun("luns/l").used_bytes, 5 * kBlockBytes);
}

TEST_F(OfflineLunTest, AnotherDirectoryInItsPlaceIsNotTaken) {
  deck_.RecordAndSeal(1);
  deck_.Stop();
  Unplug();
  std::filesystem::create_directory(member());
  deck_.Start();
  EXPECT_EQ(Lun("luns/l").state, LunState::kOffline);
  EXPECT_TRUE(std::filesystem::is_empty(member()));
}

TEST_F(OfflineLunTest, IsForgottenByForceOnlyAndItsMemberIsLeftAlone) {
  deck_.RecordAndSeal(1);
  deck_.Stop();
  Unplug();
  deck_.Start();
  EXPECT_EQ(Reason(deck_.node().luns().DeleteLun("luns/l", false)), "LUN_OFFLINE");
  EXPECT_TRUE(deck_.node().luns().DeleteLun("luns/l", true).ok());
  EXPECT_EQ(deck_.node().luns().ListLuns()->size(), 1);
  EXPECT_TRUE(deck_.node().recordings().ListRecordings("luns/-/channels/-")->empty());
  PlugIn();
  EXPECT_TRUE(std::filesystem::exists(member() + "/.tapedeck/lun.json"));
  deck_.Start();
  EXPECT_EQ(deck_.node().luns().ListLuns()->size(), 1);
}

TEST_F(OfflineLunTest, ACatalogIsNotRebuiltWithoutSayingWhatIsLeftOut) {
  deck_.RecordAndSeal(1);
  deck_.Stop();
  Unplug();
  EXPECT_EQ(Reason(node::RebuildCatalog(deck_.state_dir())), "LUN_OFFLINE");
  PlugIn();
  EXPECT_TRUE(node::RebuildCatalog(deck_.state_dir()).ok());
  deck_.Start();
  EXPECT_EQ(deck_.node().recordings().ListRecordings("luns/-/channels/-")->size(), 1);
}

}  // namespace
}  // namespace tapedeck::storage_node
