// Triggers of samples that are to come, or that the capture before has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage_node/capture/trigger_fixture.h"

namespace tapedeck::storage_node {
namespace {

class TriggerToComeTest : public TriggerTest {};

TEST_F(TriggerToComeTest, BeforeTheFirstSampleNoRecordingIsNamed) {
  auto recorder = *node_.Record({.channel = kTriggered});
  const auto capture = Fire({.label = "early"});
  EXPECT_EQ(capture.recording, "");
  EXPECT_THAT(capture.recordings, testing::IsEmpty());
  EXPECT_THAT(*node_.node().recordings().ListRecordings(kTriggered), testing::IsEmpty());
  Push(recorder, 0, 10);
  const std::string made = AwaitCaptures(recorder, 1).front();
  EXPECT_EQ(Closed(made).annotations[0].label, "early");
  EXPECT_THAT(BlocksOf(made), testing::ElementsAre(0, 1));
  EXPECT_THAT(MarksOf(made), testing::ElementsAre(0u));
}

// A trigger that waits for a later sample is in nobody's way.
TEST_F(TriggerToComeTest, WhatIsHeldCanBeTriggeredWhileALaterSampleIsAwaited) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 50);
  Fire({.sample = 60 * kSamples});
  const auto past = Fire({.sample = 48 * kSamples});
  EXPECT_NE(past.recording, "");
  Push(recorder, 50, 80);
  EXPECT_THAT(MarksOf(past.recording), testing::ElementsAre(48 * kSamples));
  EXPECT_THAT(BlocksOf(past.recording), testing::ElementsAre(46, 47, 48, 49));
  const std::string later = AwaitCaptures(recorder, 2).back();
  EXPECT_THAT(MarksOf(later), testing::ElementsAre(60 * kSamples));
  EXPECT_THAT(BlocksOf(later), testing::ElementsAre(57, 58, 59, 60, 61));
}

// Its block is whole in the capture that has just ended, and so is the mark.
TEST_F(TriggerToComeTest, ASampleOfTheCaptureBeforeIsMarkedThere) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 10);
  const auto first = Fire({.sample = 8 * kSamples, .label = "one"});
  EXPECT_EQ(first.first_sample, 6 * kSamples);
  Closed(first.recording);
  const auto second = Fire({.label = "two"});
  EXPECT_EQ(second.trigger_sample, 10 * kSamples - 1);
  EXPECT_EQ(second.recording, first.recording);
  Push(recorder, 10, 20);
  EXPECT_THAT(MarksOf(first.recording), testing::ElementsAre(8 * kSamples, 10 * kSamples - 1));
  const std::string rest = AwaitCaptures(recorder, 2).back();
  EXPECT_THAT(MarksOf(rest), testing::IsEmpty());
  EXPECT_THAT(BlocksOf(rest), testing::ElementsAre(10, 11));
}

// A capture under way is longer once the sample comes: at the stream's end no mark lies outside.
TEST_F(TriggerToComeTest, OfASampleThatNeverComesThereIsNoMark) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 10);
  const auto first = Fire();
  EXPECT_EQ(Fire({.sample = 11 * kSamples}).recording, first.recording);
  Push(recorder, 10, 11);
  EXPECT_TRUE(recorder.Finish().ok());
  EXPECT_THAT(MarksOf(first.recording), testing::ElementsAre(10 * kSamples - 1));
}

TEST_F(TriggerToComeTest, TriggersThatWaitForTheirSamplesAreBounded) {
  auto recorder = *node_.Record({.channel = kTriggered});
  for (uint64_t i = 0; i < 64; ++i) Fire({.sample = 1000 + i});
  const auto refused = node_.Meanwhile([&] {
    return node_.node().recorder().TriggerRecording(kTriggered, {.sample = 2000}).status();
  });
  EXPECT_EQ(Reason(refused), "LIMIT_REACHED");
  Push(recorder, 0, 10);
  const std::string made = AwaitCaptures(recorder, 1).front();
  EXPECT_THAT(MarksOf(made), testing::SizeIs(64));
  EXPECT_THAT(BlocksOf(made), testing::ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace tapedeck::storage_node
