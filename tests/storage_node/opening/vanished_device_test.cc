// A device LUN's device that is unplugged, or has another in its place, while it is in use. Files
// stand for devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/storage_node/opening/vanishing_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::LunState;
using testing::HasSubstr;

class VanishedDevice : public Vanishing, public testing::Test {
 protected:
  VanishedDevice() : Vanishing("device") {}

  void ExpectEndedAndOffline(Recorder& recorder) {
    ExpectEnded(recorder, Told(recorder));
    ExpectOffline();
  }
};

TEST_F(VanishedDevice, EndsItsRecordingsAndComesBack) {
  const std::string sealed = deck_.RecordAndSeal(4);
  {
    Recorder recorder = Begin(3);
    MoveAway();
    ExpectEndedAndOffline(recorder);
    EXPECT_EQ(recorder.admission.sink->watermarks().durable, 3u);
  }
  PutBack();
  ASSERT_TRUE(Becomes(LunState::kReady)) << Lun().cause;
  EXPECT_EQ(deck_.PlayAll(sealed).size(), 4u);
  const auto recordings = *deck_.node().recordings().ListRecordings("luns/l/channels/c");
  ASSERT_EQ(recordings.size(), 2u);
  EXPECT_EQ(recordings[0].state, services::RecordingState::kSalvaged);
  EXPECT_EQ(deck_.PlayAll(recordings[0].name).size(), 3u);
  EXPECT_TRUE(deck_.Verify(deck_.RecordAndSeal(2)).empty());
}

TEST_F(VanishedDevice, AnotherOneInItsPlaceIsNotTaken) {
  Recorder recorder = Begin(2);
  MoveAway();
  std::ofstream(member()) << "somebody else's";
  fs::resize_file(member(), fs::file_size(member() + "-away"));
  const auto before = fs::last_write_time(member());
  ExpectEndedAndOffline(recorder);
  EXPECT_EQ(fs::last_write_time(member()), before);
}

TEST_F(VanishedDevice, OneThatWasCutIsNoneAnyMore) {
  Recorder recorder = Begin(2);
  fs::resize_file(member(), 0);  // as the kernel shows one that was unplugged
  ExpectEndedAndOffline(recorder);
}

TEST_F(VanishedDevice, EndsPlaybacks) {
  const std::string recording = deck_.RecordAndSeal(200);
  auto playing = deck_.Play(recording);
  ASSERT_TRUE(playing.ok()) << playing.status();
  ASSERT_TRUE(deck_.Pull(*playing->source).ok());
  MoveAway();
  EXPECT_TRUE(Becomes(LunState::kOffline));
  deck_.executor().RunReady();
  const absl::Status told = deck_.Pull(*playing->source).status();
  EXPECT_EQ(Reason(told), "STORE_IO") << told;
  EXPECT_THAT(std::string(told.message()), HasSubstr(member()));
}

}  // namespace
}  // namespace tapedeck::storage_node
