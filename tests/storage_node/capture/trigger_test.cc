// Triggered channels: what is held, what a trigger keeps to the sample, and markers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage_node/capture/trigger_fixture.h"

namespace tapedeck::storage_node {
namespace {

TEST_F(TriggerTest, KeepsExactlyWhatIsBeforeAndAfter) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 200);
  const auto capture = Fire({.label = "burst", .comment = "a test"});
  EXPECT_EQ(capture.trigger_sample, 200 * kSamples - 1);
  EXPECT_EQ(capture.first_sample, 196 * kSamples) << "of its first block";
  EXPECT_EQ(capture.end_sample, 202 * kSamples - 1);
  Push(recorder, 200, 300);
  const auto recording = Closed(capture.recording);
  EXPECT_EQ(recording.state, services::RecordingState::kSealed);
  EXPECT_THAT(BlocksOf(capture.recording), testing::ElementsAre(196, 197, 198, 199, 200, 201));
  ASSERT_EQ(recording.annotations.size(), 1u);
  EXPECT_EQ(recording.annotations[0],
            (services::Annotation{
                .sample_start = 200 * kSamples - 1, .label = "burst", .comment = "a test"}));
  EXPECT_THAT(node_.Verify(capture.recording), testing::IsEmpty());
}

// However long after its samples a capture is made.
TEST_F(TriggerTest, ListsOnlyWhatWasTriggeredByTheTimeOfItsSamples) {
  const auto listed = [&] { return *node_.node().recordings().ListRecordings(kTriggered); };
  auto recorder = *node_.Record({.channel = kTriggered});
  EXPECT_EQ(recorder.admission.accept.recording, "");
  Push(recorder, 0, 200);
  EXPECT_THAT(listed(), testing::IsEmpty());
  EXPECT_EQ(Reason(node_.node().channels().DeleteChannel(kTriggered)), "CHANNEL_IN_USE");
  const auto first = Fire();
  ASSERT_EQ(listed().size(), 1u);
  EXPECT_EQ(listed()[0].name, first.recording);
  Push(recorder, 200, 300);
  // Its first block is 196.
  EXPECT_THAT(first.recording, testing::HasSubstr("/recordings/20200101T000316Z-"));
  EXPECT_EQ(Closed(first.recording).start_time_ns, kBeginNs + 196'000'000'000);
  EXPECT_EQ(listed().size(), 1u);
  // One that never comes.
  EXPECT_EQ(Fire({.sample = 400 * kSamples}).recording, "");
  EXPECT_EQ(listed().size(), 1u);
  EXPECT_TRUE(recorder.Finish().ok());
  EXPECT_EQ(listed().size(), 1u);
  EXPECT_THAT(recorder.admission.captures(), testing::ElementsAre(first.recording));
}

// Any sample can trigger, also an older one or one that is still to come.
TEST_F(TriggerTest, CoversTheWindowOfAnySample) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 50);
  const auto past = Fire({.sample = 49 * kSamples});
  EXPECT_EQ(past.first_sample, 46 * kSamples);
  Push(recorder, 50, 60);
  Closed(past.recording);
  EXPECT_THAT(BlocksOf(past.recording), testing::ElementsAre(46, 47, 48, 49, 50));
  const auto future = Fire({.sample = 70 * kSamples + 5});
  EXPECT_EQ(future.recording, "");
  EXPECT_EQ(future.first_sample, 67 * kSamples + 5);
  Push(recorder, 60, 90);
  const std::string made = AwaitCaptures(recorder, 2).back();
  EXPECT_EQ(Closed(made).start_time_ns, kBeginNs + 67'000'000'000);
  EXPECT_THAT(made, testing::HasSubstr("/recordings/20200101T000107Z-"));
  EXPECT_THAT(BlocksOf(made), testing::ElementsAre(67, 68, 69, 70, 71, 72));
  EXPECT_THAT(MarksOf(made), testing::ElementsAre(70 * kSamples + 5));
}

TEST_F(TriggerTest, ASampleThatIsHeldNoMoreIsRefused) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 50);
  const auto refused = node_.Meanwhile([&] {
    return node_.node().recorder().TriggerRecording(kTriggered, {.sample = 3 * kSamples}).status();
  });
  EXPECT_EQ(Reason(refused), "ARGUMENT_INVALID");
  EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("is no longer held"));
  Push(recorder, 50, 60);
  EXPECT_THAT(*node_.node().recordings().ListRecordings(kTriggered), testing::IsEmpty());
}

TEST_F(TriggerTest, ATriggerDuringACaptureMakesItLonger) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 10);
  const auto first = Fire();
  Push(recorder, 10, 11);
  const auto second = Fire();
  EXPECT_EQ(second.recording, first.recording);
  Push(recorder, 11, 20);
  EXPECT_EQ(Closed(first.recording).annotations.size(), 2u);
  EXPECT_THAT(BlocksOf(first.recording), testing::ElementsAre(6, 7, 8, 9, 10, 11, 12));
  const auto third = Fire();
  EXPECT_NE(third.recording, first.recording);
  Push(recorder, 20, 30);
  Closed(third.recording);
  EXPECT_THAT(BlocksOf(third.recording), testing::ElementsAre(16, 17, 18, 19, 20, 21));
}

TEST_F(TriggerTest, BlocksOfTwoRailsComeInAnyOrder) {
  auto recorder = *node_.Record({.channel = kTriggered});
  for (uint64_t i = 0; i < 40; i += 2) {
    ASSERT_TRUE(PushOne(recorder, i + 1).ok());
    ASSERT_TRUE(PushOne(recorder, i).ok());
  }
  const auto capture = Fire();
  for (uint64_t i = 40; i < 50; i += 2) {
    ASSERT_TRUE(PushOne(recorder, i + 1).ok());
    ASSERT_TRUE(PushOne(recorder, i).ok());
  }
  Closed(capture.recording);
  EXPECT_THAT(BlocksOf(capture.recording), testing::ElementsAre(36, 37, 38, 39, 40, 41));
}

// The LUN has 64 MiB, the stream would take more.
TEST_F(TriggerTest, TheLengthOfTheStreamIsNotReserved) {
  auto recorder = node_.Record({.channel = kTriggered, .expected_blocks = 100'000});
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  Push(*recorder, 0, 10);
  const auto first = Fire();
  Push(*recorder, 10, 20);
  Closed(first.recording);
  Fire();
}

TEST_F(TriggerTest, WithoutATriggerNothingIsKept) {
  {
    auto recorder = *node_.Record({.channel = kTriggered});
    Push(recorder, 0, 20);
    EXPECT_EQ(recorder.admission.sink->watermarks().received, 20u);
    EXPECT_TRUE(recorder.Finish().ok());
  }
  EXPECT_THAT(*node_.node().recordings().ListRecordings(kTriggered), testing::IsEmpty());
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->used_bytes, 0u);
}

TEST_F(TriggerTest, ACaptureThatTheStreamEndsKeepsWhatItHas) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 20);
  const auto capture = Fire();
  Push(recorder, 20, 21);
  EXPECT_TRUE(recorder.Finish().ok());
  EXPECT_EQ(Closed(capture.recording).state, services::RecordingState::kSealed);
  EXPECT_EQ(node_.Get(capture.recording).cause, "the stream ended before the capture did");
  EXPECT_THAT(BlocksOf(capture.recording), testing::ElementsAre(16, 17, 18, 19, 20));
}

// A worker that is lost is no end of the stream.
TEST_F(TriggerTest, ACaptureThatALossEndsIsSalvaged) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 20);
  const auto capture = Fire();
  recorder.Finish(services::PeerLost("worker", "it has gone")).IgnoreError();
  EXPECT_EQ(Closed(capture.recording).state, services::RecordingState::kSalvaged);
}

TEST_F(TriggerTest, WithoutASessionThereIsNothingToTrigger) {
  EXPECT_EQ(Reason(node_.node().recorder().TriggerRecording(kTriggered, {}).status()),
            "CHANNEL_NOT_TRIGGERED");
  const auto wrong = node_.node().channels().CreateChannel({.name = "luns/l/channels/w",
                                                            .block_bytes = kBlockBytes,
                                                            .datatype = "cf32_le",
                                                            .sample_rate = 1e6,
                                                            .pre_trigger_ns = 1},
                                                           "");
  EXPECT_EQ(Reason(wrong.status()), "ARGUMENT_INVALID");
}

bool IsNotReady(const absl::Status& told) {
  const auto reason = services::ReasonOf(told);
  return reason.has_value() && reason->metadata.contains("phase");
}

// As long as nobody runs its executor the session is on its way.
TEST_F(TriggerTest, ATriggerThatComesTooEarlyIsToldWhatTheSessionWaitsFor) {
  ManualExecutor session;
  std::optional<absl::StatusOr<services::session::Admission>> admitted;
  services::session::Open open{.channel = kTriggered};
  open.direction = services::session::Direction::kRecord;
  node_.node().sessions().Admit(open, session,
                                std::make_shared<services::session::AdmissionWatch>(),
                                [&](auto admission) { admitted.emplace(std::move(admission)); });
  absl::Status told;
  for (int i = 0; i < 10'000 && !IsNotReady(told); ++i) {
    absl::SleepFor(absl::Milliseconds(1));
    told = node_.node().recorder().TriggerRecording(kTriggered, {}).status();
  }
  EXPECT_EQ(Reason(told), "CHANNEL_NOT_TRIGGERED");
  EXPECT_THAT(std::string(told.message()), testing::HasSubstr("is not ready for a trigger: "));
  EXPECT_TRUE(session.RunUntil([&] { return admitted.has_value(); }));
  admitted.reset();
  told = node_.node().recorder().TriggerRecording(kTriggered, {}).status();
  EXPECT_FALSE(IsNotReady(told));
}

TEST_F(TriggerTest, MarkersLastOverARestart) {
  const services::Annotation running{.sample_start = 5, .sample_count = 7, .label = "running"};
  const services::Annotation closed{.sample_start = 9, .label = "closed", .comment = "late"};
  std::string name;
  {
    auto recorder = *node_.Record();
    name = recorder.admission.accept.recording;
    ASSERT_TRUE(recorder.Push(0).ok());
    EXPECT_TRUE(
        node_.Meanwhile([&] { return node_.node().recorder().AnnotateRecording(name, running); })
            .ok());
    EXPECT_TRUE(recorder.Finish().ok());
  }
  EXPECT_TRUE(node_.node().recorder().AnnotateRecording(name, closed).ok());
  node_.Stop();
  node_.Start();
  EXPECT_THAT(node_.Get(name).annotations, testing::ElementsAre(running, closed));
}

TEST_F(TriggerTest, AMarkerThatWasTakenSurvivesItsWriterOnANodeThatGoesOn) {
  auto recorder = std::make_optional(*node_.Record());
  const std::string name = recorder->admission.accept.recording;
  ASSERT_TRUE(recorder->Push(0).ok());
  const auto mark = [&] {
    return node_.node().recorder().AnnotateRecording(name, {.label = "kept"});
  };
  EXPECT_TRUE(node_.Meanwhile(mark).ok());
  const auto keep = [&] { return node_.node().recorder().KeepRecording(name, true); };
  EXPECT_TRUE(node_.Meanwhile(keep).ok());
  recorder = std::nullopt;
  const services::Recording recording = Closed(name);
  EXPECT_EQ(recording.state, services::RecordingState::kSalvaged);
  ASSERT_EQ(recording.annotations.size(), 1u);
  EXPECT_EQ(recording.annotations[0].label, "kept");
  EXPECT_TRUE(recording.kept);
}

TEST_F(TriggerTest, AMarkerThatWasTakenSurvivesItsWriter) {
  auto recorder = std::make_optional(*node_.Record());
  const std::string name = recorder->admission.accept.recording;
  ASSERT_TRUE(recorder->Push(0).ok());
  const services::Annotation marker{.label = "kept"};
  EXPECT_TRUE(
      node_.Meanwhile([&] { return node_.node().recorder().AnnotateRecording(name, marker); })
          .ok());
  recorder = std::nullopt;
  node_.Stop();
  node_.Start();
  ASSERT_EQ(node_.Get(name).annotations.size(), 1u);
  EXPECT_EQ(node_.Get(name).annotations[0].label, "kept");
}

}  // namespace
}  // namespace tapedeck::storage_node
