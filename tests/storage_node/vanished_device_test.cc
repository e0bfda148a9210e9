// A block LUN's device that is unplugged, or has another in its place, while it is in use. Files
// stand for devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/time/clock.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::LunState;
using testing::HasSubstr;

class VanishedDevice : public testing::Test {
 protected:
  std::string device() const { return deck_.dir().path() + "/m0"; }
  void Unplug() { fs::rename(device(), device() + "-away"); }
  void PlugIn() { fs::rename(device() + "-away", device()); }

  // Of so many blocks, which are acknowledged as durable.
  Recorder Begin(uint64_t blocks) {
    auto recorder = deck_.Record();
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < blocks; ++i) EXPECT_TRUE(recorder->Push(i).ok()) << i;
    const auto& sink = *recorder->admission.sink;
    EXPECT_TRUE(deck_.executor().RunUntil([&] { return sink.watermarks().durable == blocks; }));
    return *std::move(recorder);
  }

  // What the session is told without a block coming.
  void ExpectToldAndOffline(Recorder& recorder) {
    const auto& sink = *recorder.admission.sink;
    const absl::Time deadline = absl::Now() + absl::Seconds(5);
    deck_.executor().RunUntil([&] { return !sink.status().ok() || absl::Now() > deadline; });
    const absl::Status told = sink.status();
    EXPECT_EQ(Reason(told), "STORE_IO") << told;
    EXPECT_THAT(std::string(told.message()), HasSubstr(device()));
    EXPECT_EQ(recorder.Finish(told), told);
    EXPECT_TRUE(Becomes(LunState::kOffline)) << "it is still there";
    EXPECT_THAT(Lun().cause, HasSubstr(device()));
    EXPECT_EQ(Reason(deck_.Record().status()), "LUN_OFFLINE");
  }

  services::Lun Lun() { return deck_.node().luns().GetLun("luns/l").value_or(services::Lun()); }
  bool Becomes(LunState state) {
    const absl::Time deadline = absl::Now() + absl::Seconds(10);
    while (Lun().state != state && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(20));
    return Lun().state == state;
  }

  NodeFixture deck_{services::StoreKind::kBlock};
};

TEST_F(VanishedDevice, EndsItsRecordingsAndComesBack) {
  const std::string sealed = deck_.RecordAndSeal(4);
  {
    Recorder recorder = Begin(3);
    Unplug();
    ExpectToldAndOffline(recorder);
    EXPECT_EQ(recorder.admission.sink->watermarks().durable, 3u);
  }
  PlugIn();
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
  Unplug();
  std::ofstream(device()) << "somebody else's";
  fs::resize_file(device(), fs::file_size(device() + "-away"));
  const auto before = fs::last_write_time(device());
  ExpectToldAndOffline(recorder);
  EXPECT_EQ(fs::last_write_time(device()), before);
}

TEST_F(VanishedDevice, OneThatWasCutIsNoneAnyMore) {
  Recorder recorder = Begin(2);
  fs::resize_file(device(), 0);  // as the kernel shows one that was unplugged
  ExpectToldAndOffline(recorder);
}

TEST_F(VanishedDevice, EndsPlaybacks) {
  const std::string recording = deck_.RecordAndSeal(200);
  auto playing = deck_.Play(recording);
  ASSERT_TRUE(playing.ok()) << playing.status();
  ASSERT_TRUE(deck_.Pull(*playing->source).ok());
  Unplug();
  EXPECT_TRUE(Becomes(LunState::kOffline));
  deck_.executor().RunReady();
  const absl::Status told = deck_.Pull(*playing->source).status();
  EXPECT_EQ(Reason(told), "STORE_IO") << told;
  EXPECT_THAT(std::string(told.message()), HasSubstr(device()));
}

}  // namespace
}  // namespace tapedeck::storage_node
