// What a LUN's policies delete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>

#include "absl/time/clock.h"
#include "tests/storage_node/capture/segment_fixture.h"
#include "tests/storage_node/settable_clock.h"

namespace tapedeck::storage_node {
namespace {

using RetentionTest = SegmentTest;

constexpr int64_t kHourNs = 3600 * dataplane::kSecondNs;

TEST_P(RetentionTest, OldRecordingsGoUnlessTheyAreKeptOrPlayed) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({}).ok());
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) {
    auto recorder = Start();
    Push(recorder, 0, 3);
    ASSERT_TRUE(recorder.Finish().ok());
    names.push_back(recorder.admission.accept.recording);
  }
  ASSERT_TRUE(node_.node().recorder().KeepRecording(names[0], true).ok());
  auto player = node_.Play(names[1]);
  ASSERT_TRUE(player.ok());
  const auto update = services::LunUpdate{.name = "luns/ring"}.Set(&services::Lun::max_age_ns,
                                                                   dataplane::kSecondNs);
  ASSERT_TRUE(node_.node().luns().UpdateLun(update, "").ok());
  const auto left = [&] { return node_.node().recordings().ListRecordings(kChannel)->size(); };
  // By the clock of the node, on its own thread.
  EXPECT_TRUE(node_.executor().RunUntil([&] { return left() == 2; }));
  EXPECT_FALSE(node_.node().recordings().GetRecording(names[2]).ok());
  player->source = nullptr;
  EXPECT_TRUE(node_.executor().RunUntil([&] { return left() == 1; }));
  EXPECT_TRUE(node_.Get(names[0]).kept);
}

TEST_P(RetentionTest, AgesGoByAClockThatStepsBack) {
  const auto clock = std::make_shared<SettableClock>();
  node_.Restart({.clock = clock});
  MakeLun({.max_age_ns = 2 * kHourNs});
  ASSERT_TRUE(MakeChannel({}).ok());
  clock->set_ns = 87'600 * kHourNs;
  absl::SleepFor(1.5 * recordings::kRetentionPeriod);  // there is nothing to do for two hours
  clock->set_ns = 0;
  absl::SleepFor(1.5 * recordings::kRetentionPeriod);
  auto recorder = Start();
  Push(recorder, 0, 3);
  ASSERT_TRUE(recorder.Finish().ok());
  clock->passed_ns = kHourNs;
  const auto left = [&] { return node_.node().recordings().ListRecordings(kChannel)->size(); };
  EXPECT_EQ(left(), 1u);
  clock->passed_ns = 3 * kHourNs;
  EXPECT_TRUE(node_.executor().RunUntil([&] { return left() == 0; }));
}

// What a test of a clock that steps needs: recordings under it, and how many are left.
class SteppedRetentionTest : public SegmentTest {
 protected:
  void Begin() {
    node_.Restart({.clock = clock_});
    MakeLun({.max_age_ns = 48 * kHourNs});
    ASSERT_TRUE(MakeChannel({}).ok());
    MakeOne();
  }
  void MakeOne() {
    auto recorder = Start();
    Push(recorder, 0, 3);
    ASSERT_TRUE(recorder.Finish().ok());
  }
  size_t Left() { return node_.node().recordings().ListRecordings(kChannel)->size(); }
  static void LetItLook() { absl::SleepFor(1.5 * recordings::kRetentionPeriod); }
  const std::shared_ptr<SettableClock> clock_ = std::make_shared<SettableClock>();
};

TEST_P(SteppedRetentionTest, NothingIsTooOldBecauseTheClockWentAhead) {
  Begin();
  LetItLook();
  clock_->set_ns = 87'600 * kHourNs;
  LetItLook();
  EXPECT_EQ(Left(), 1u);
  // Nor by the same clock after a restart.
  node_.Restart({.clock = clock_});
  LetItLook();
  EXPECT_EQ(Left(), 1u);
  clock_->passed_ns = 47 * kHourNs;
  LetItLook();
  EXPECT_EQ(Left(), 1u);
  clock_->passed_ns = 49 * kHourNs;
  EXPECT_TRUE(node_.executor().RunUntil([&] { return Left() == 0; }));
}

TEST_P(SteppedRetentionTest, NothingIsTooOldBecauseTheNodeStartedWithAWrongClock) {
  Begin();
  node_.Stop();
  clock_->set_ns = 87'600 * kHourNs;
  node_.Restart({.clock = clock_});
  LetItLook();
  EXPECT_EQ(Left(), 1u);
  // A step that is small for this max_age makes nothing younger.
  clock_->passed_ns = 30 * kHourNs;
  LetItLook();
  clock_->set_ns += 20 * kHourNs;
  EXPECT_TRUE(node_.executor().RunUntil([&] { return Left() == 0; }));
}

TEST_P(SteppedRetentionTest, WithoutANoteTheTimeBeforeTheStartIsNotBelieved) {
  Begin();
  node_.Stop();
  std::filesystem::remove(node_.state_dir() + "/clock.json");
  clock_->set_ns = 49 * kHourNs;
  node_.Restart({.clock = clock_});
  LetItLook();
  EXPECT_EQ(Left(), 1u);
  clock_->passed_ns = 49 * kHourNs;
  EXPECT_TRUE(node_.executor().RunUntil([&] { return Left() == 0; }));
}

TEST_P(SteppedRetentionTest, WhatIsPlayedWhenItIsDueGoesSoonAfter) {
  Begin();
  auto player = node_.Play(node_.node().recordings().ListRecordings(kChannel)->front().name);
  ASSERT_TRUE(player.ok());
  clock_->passed_ns = 49 * kHourNs;
  LetItLook();
  EXPECT_EQ(Left(), 1u);
  player->source = nullptr;
  clock_->passed_ns += kHourNs / 30;
  EXPECT_TRUE(node_.executor().RunUntil([&] { return Left() == 0; }));
}

TEST_P(RetentionTest, TheOldestGoWhenTheLunFillsUp) {
  // Half of it has room for two and a half.
  MakeLun({.capacity_bytes = 5 * Takes(GetParam(), 60), .max_fill_percent = 50});
  ASSERT_TRUE(MakeChannel({}).ok());
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i) {
    auto recorder = Start();
    Push(recorder, 0, 60);
    ASSERT_TRUE(recorder.Finish().ok());
    names.push_back(recorder.admission.accept.recording);
  }
  EXPECT_TRUE(node_.executor().RunUntil(
      [&] { return node_.node().recordings().ListRecordings(kChannel)->size() == 2; }));
  EXPECT_EQ(node_.Get(names[3]).blocks, 60u);
  EXPECT_EQ(node_.Get(names[2]).blocks, 60u);
}

TEST_P(RetentionTest, ASegmentWaitsForAnOlderOneOfItsStream) {
  // A quarter of it has room for four.
  MakeLun({.capacity_bytes = 16 * Takes(GetParam(), kSegmentBlocks), .max_fill_percent = 25});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  Push(recorder, 0, 15);
  Push(recorder, 16, 6 * kSegmentBlocks + 3);  // block 15 is late
  absl::SleepFor(2.5 * recordings::kRetentionPeriod);
  EXPECT_EQ(Segments().size(), 7u);
  Push(recorder, 15, 16);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  EXPECT_TRUE(node_.executor().RunUntil([&] { return Segments().size() <= 4; }));
  EXPECT_TRUE(Segments().contains(6));
}

// By the numbers of its segments.
TEST_P(SteppedRetentionTest, AStreamGoesInOrderThoughTheClockStepsBack) {
  node_.Restart({.clock = clock_});
  MakeLun({.capacity_bytes = 8 * Takes(GetParam(), kSegmentBlocks), .max_fill_percent = 50});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  Push(recorder, 0, 2 * kSegmentBlocks);
  clock_->set_ns = -kHourNs;
  Push(recorder, 2 * kSegmentBlocks, 5 * kSegmentBlocks + 3);
  EXPECT_TRUE(node_.executor().RunUntil([&] { return !Segments().contains(0); }));
  EXPECT_TRUE(Segments().contains(4));
  ASSERT_TRUE(recorder.Finish().ok());
}

INSTANTIATE_TEST_SUITE_P(Stores, SteppedRetentionTest, testing::Values("posix"), StoreOf);
INSTANTIATE_TEST_SUITE_P(Stores, RetentionTest, testing::Values("memory", "posix", "device"),
                         StoreOf);

}  // namespace
}  // namespace tapedeck::storage_node
