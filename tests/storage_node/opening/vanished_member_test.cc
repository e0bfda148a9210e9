// A member that is removed, or has another directory in its place, while it is in use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <system_error>

#include "dataplane/now.h"
#include "tests/storage_node/opening/vanishing_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::LunState;
using testing::HasSubstr;

// Also while the node makes files there.
void RemoveWhole(const std::string& directory) {
  const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(10);
  std::error_code error;
  do {
    fs::remove_all(directory, error);
  } while (error && dataplane::SteadyTime() < deadline);
  ASSERT_FALSE(error) << directory << ": " << error.message();
}

class VanishedMemberTest : public Vanishing, public testing::TestWithParam<std::string> {
 protected:
  VanishedMemberTest() : Vanishing(GetParam()) {}
};

TEST_P(VanishedMemberTest, RemovedItEndsRecordingsAndNothingMoreIsDurable) {
  Recorder recorder = Begin(3);
  RemoveWhole(member());
  for (uint64_t i = 3; i < 6 && recorder.admission.sink->status().ok(); ++i) {
    recorder.Push(i).IgnoreError();
  }
  const absl::Status told = Told(recorder);
  ExpectEnded(recorder, told);
  EXPECT_EQ(recorder.admission.sink->watermarks().durable, 3);
  ExpectOffline();
  EXPECT_FALSE(fs::exists(member()));
}

TEST_P(VanishedMemberTest, AnIdleRecordingIsToldToo) {
  Recorder recorder = Begin(2);
  RemoveWhole(member());
  const absl::Status told = Told(recorder);
  ExpectEnded(recorder, told);
  ExpectOffline();
}

TEST_P(VanishedMemberTest, AnotherDirectoryInItsPlaceIsNotTakenAndItComesBack) {
  const std::string sealed = deck_.RecordAndSeal(4);
  {
    Recorder recorder = Begin(3);
    MoveAway();
    fs::create_directory(member());
    const absl::Status told = Told(recorder);
    ExpectEnded(recorder, told);
    ExpectOffline();
  }
  EXPECT_TRUE(fs::is_empty(member()));
  EXPECT_EQ(deck_.node().recordings().ListRecordings("luns/l/channels/c")->size(), 2);
  fs::remove(member());
  PutBack();
  ASSERT_TRUE(Becomes(LunState::kReady)) << Lun().cause;
  EXPECT_EQ(deck_.PlayAll(sealed).size(), 4);
  const auto recordings = *deck_.node().recordings().ListRecordings("luns/l/channels/c");
  ASSERT_EQ(recordings.size(), 2);
  EXPECT_EQ(recordings[0].state, services::RecordingState::kSalvaged);
  EXPECT_THAT(recordings[0].cause, HasSubstr("or the LUN went away"));  // as it came back
  EXPECT_EQ(deck_.PlayAll(recordings[0].name).size(), 3);
  EXPECT_TRUE(deck_.Verify(deck_.RecordAndSeal(2)).empty());
}

TEST_P(VanishedMemberTest, EndsPlaybacks) {
  const std::string recording = deck_.RecordAndSeal(200);
  auto playing = deck_.Play(recording);
  ASSERT_TRUE(playing.ok()) << playing.status();
  ASSERT_TRUE(deck_.Pull(*playing->source).ok());
  MoveAway();
  ExpectOffline();
  deck_.executor().RunReady();
  const absl::Status told = deck_.Pull(*playing->source).status();
  EXPECT_EQ(Reason(told), "STORE_IO") << told;
  EXPECT_THAT(std::string(told.message()), HasSubstr(member()));
}

TEST_P(VanishedMemberTest, OneRecordingWhoseFilesAreRemovedEndsAlone) {
  Recorder gone = Begin(2);
  deck_.MakeChannel("d", dataplane::CommitLevel::kDurable);
  auto other = deck_.Record({.channel = "luns/l/channels/d"});
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE(other->Push(0).ok());
  RemoveWhole(deck_.Directory(gone.admission.accept.recording));
  const absl::Status told = Told(gone);
  ExpectEnded(gone, told);
  EXPECT_THAT(std::string(told.message()), HasSubstr("/data was removed"));
  EXPECT_TRUE(other->Push(1).ok());
  EXPECT_TRUE(other->Finish().ok());
  EXPECT_EQ(Lun().state, LunState::kReady);
  EXPECT_EQ(deck_.PlayAll(other->admission.accept.recording).size(), 2);
}

TEST_P(VanishedMemberTest, WithoutItsMarkItIsNoMemberAnyMore) {
  Recorder recorder = Begin(2);
  RemoveWhole(member() + "/.tapedeck");
  const absl::Status told = Told(recorder);
  ExpectEnded(recorder, told);
  EXPECT_TRUE(Becomes(LunState::kOffline));
}

TEST_P(VanishedMemberTest, EndsASessionThatWaitsForATrigger) {
  const auto channel =
      deck_.node().channels().CreateChannel({.name = "luns/l/channels/t",
                                             .block_bytes = kBlockBytes,
                                             .datatype = "cf32_le",
                                             .sample_rate = 1e6,
                                             .commit = dataplane::CommitLevel::kReceived,
                                             .pre_trigger_ns = 1'000'000},
                                            "");
  ASSERT_TRUE(channel.ok()) << channel.status();
  auto recorder = deck_.Record({.channel = "luns/l/channels/t"});
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  RemoveWhole(member());
  EXPECT_EQ(Reason(Told(*recorder)), "LUN_OFFLINE");
}

TEST_P(VanishedMemberTest, ALunThatNobodyUsesIsOfflineTooAndComesBack) {
  const std::string recording = deck_.RecordAndSeal(2);
  MoveAway();
  ExpectOffline();
  PutBack();
  ASSERT_TRUE(Becomes(LunState::kReady)) << Lun().cause;
  EXPECT_EQ(deck_.PlayAll(recording).size(), 2);
}

INSTANTIATE_TEST_SUITE_P(Kinds, VanishedMemberTest, testing::Values("posix", "direct"),
                         [](const auto& kind) {
                           return kind.param == "posix" ? "Posix" : "Direct";
                         });

// Of a stripe.
TEST(VanishedMemberOfTwoTest, EndsRecordings) {
  NodeFixture deck("posix", 2);
  auto recorder = deck.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  for (uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  RemoveWhole(deck.dir().path() + "/m1");
  const auto& sink = *recorder->admission.sink;
  ASSERT_TRUE(deck.executor().RunUntil([&] { return !sink.status().ok(); }));
  EXPECT_EQ(Reason(sink.status()), "STORE_IO");
  EXPECT_THAT(std::string(sink.status().message()), HasSubstr(deck.dir().path() + "/m1"));
}

}  // namespace
}  // namespace tapedeck::storage_node
