// Sessions in segments: ring LUNs, triggers on disk, and kills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage_node/capture/segment_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::FullPolicy;

TEST_P(SegmentTest, ARingTakesAStreamForEver) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  constexpr uint64_t kBlocks = kLunBlocks * 6 + 5;
  Push(recorder, 0, kBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  EXPECT_EQ(recorder.admission.sink->watermarks().durable, kBlocks);
  recorder.admission.sink = nullptr;
  AwaitPolicies();

  const std::vector<uint64_t> blocks = AllBlocks();
  // What is there is the end of the stream, without a gap, and most of what fits.
  ASSERT_GT(blocks.size(), kLunBlocks * 3 / 4);
  for (size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_EQ(blocks[i], kBlocks - blocks.size() + i);
  }
  const auto segments = Segments();
  EXPECT_EQ(segments.rbegin()->first, kBlocks / kSegmentBlocks);
  const std::string stream = segments.begin()->second.stream;
  for (const auto& [number, recording] : segments) {
    EXPECT_EQ(recording.state, services::RecordingState::kSealed) << number;
    EXPECT_EQ(recording.stream, stream);
    EXPECT_THAT(node_.Verify(recording.name), testing::IsEmpty());
  }
  const auto lun = *node_.node().luns().GetLun("luns/ring");
  uint64_t taken = 0;
  for (const auto& [number, recording] : segments) taken += Takes(GetParam(), recording.blocks);
  EXPECT_EQ(lun.used_bytes, taken);
}

TEST_P(SegmentTest, BlocksComeInAnyOrder) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  for (uint64_t i = 0; i < 99; i += 3) {
    for (const uint64_t j : {i + 2, i + 1, i}) ASSERT_TRUE(PushOne(recorder, j).ok());
    ASSERT_TRUE(PushOne(recorder, i).ok()) << "twice";
    EXPECT_EQ(recorder.admission.sink->watermarks().received, i + 3);
  }
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  EXPECT_EQ(AllBlocks().size(), 99u);
}

// As when a rail stalls with one block and all others go over the other rail: the late block is
// queued behind the newest one.
TEST_P(SegmentTest, ALateBlockHoldsNoLaterSegmentBack) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  constexpr uint64_t kBlocks = 8 * kSegmentBlocks;
  Push(recorder, 1, kBlocks);
  EXPECT_EQ(recorder.admission.sink->watermarks().received, 0u);
  EXPECT_TRUE(node_.executor().RunUntil(
      [&] { return Segments()[1].state == services::RecordingState::kSealed; }));
  EXPECT_EQ(recorder.admission.sink->watermarks().durable, 0u) << "the first is not there";
  Push(recorder, 0, 1);
  EXPECT_EQ(recorder.admission.sink->watermarks().received, kBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  EXPECT_EQ(AllBlocks().size(), kBlocks);
}

// A trigger asks for more of the past than the ring has.
TEST_P(SegmentTest, ATriggerKeepsWhatTheRingStillHas) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({.pre_trigger_ns = 500'000'000'000}).ok());
  auto recorder = Start();
  Push(recorder, 0, 2 * kLunBlocks);
  const auto capture = Fire();
  EXPECT_GT(capture.first_sample, 0u);
  ASSERT_FALSE(capture.recordings.empty());
  for (const std::string& recording : capture.recordings) {
    EXPECT_TRUE(node_.Get(recording).kept) << recording;
  }
  EXPECT_EQ(node_.Get(capture.recording).name, capture.recordings.front());
  ASSERT_TRUE(recorder.Finish().ok());
}

TEST_P(SegmentTest, ATriggerKeepsItsSegments) {
  MakeRing();
  ASSERT_TRUE(
      MakeChannel({.pre_trigger_ns = 40'000'000'000, .post_trigger_ns = 20'000'000'000}).ok());
  auto recorder = Start();
  Push(recorder, 0, 100);
  const auto capture = Fire();
  const uint64_t last = 99 * 1000 + kBlockBytes / 8;  // more samples a block than its step
  EXPECT_EQ(capture.trigger_sample, last - 1);
  EXPECT_LE(capture.first_sample, last - 1 - 40'000);
  EXPECT_EQ(capture.end_sample, last - 1 + 20'000);
  Push(recorder, 100, 1500);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  KeepsAbout(capture.first_sample, capture.end_sample);
  const auto front = node_.Get(capture.recordings.front());
  EXPECT_TRUE(front.kept);
  EXPECT_EQ(capture.first_sample, BlocksOf(front).front() * 1000) << "segments are kept whole";
}

TEST_P(SegmentTest, ASampleToComeIsMarkedWhenItComes) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({.pre_trigger_ns = 4'000'000'000}).ok());
  auto recorder = Start();
  Push(recorder, 0, 10);
  const auto asked = node_.Meanwhile([&] {
    return node_.node().recorder().TriggerRecording(kChannel, {.sample = 60'500, .label = "late"});
  });
  ASSERT_TRUE(asked.ok()) << asked.status();
  Push(recorder, 10, 100);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  std::vector<uint64_t> marks;
  for (const auto& [number, recording] : Segments()) {
    for (const services::Annotation& mark : recording.annotations) {
      EXPECT_EQ(mark.label, "late");
      EXPECT_TRUE(recording.kept);
      marks.push_back(mark.sample_start);
    }
  }
  EXPECT_THAT(marks, testing::ElementsAre(60'500u));
}

TEST_P(SegmentTest, ABlockThatTriggersKeepsItsSegments) {
  MakeRing();
  ASSERT_TRUE(
      MakeChannel({.pre_trigger_ns = 40'000'000'000, .post_trigger_ns = 20'000'000'000}).ok());
  auto recorder = Start();
  Push(recorder, 0, 100);
  ASSERT_TRUE(recorder.Push(100, kBlockBytes, dataplane::kBlockTriggered).ok());
  Push(recorder, 101, 1500);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  KeepsAbout(60'000, 120'000);
  size_t marks = 0;
  for (const auto& [number, recording] : Segments()) {
    for (const services::Annotation& mark : recording.annotations) {
      EXPECT_EQ(mark.sample_start, 100'000u);
      EXPECT_EQ(mark.label, "trigger");
      ++marks;
    }
  }
  // Its samples overlap: a block has more than its step.
  EXPECT_GE(marks, 1u);
}

TEST_P(SegmentTest, WhenAllIsKeptTheStreamStopsCleanly) {
  MakeRing();
  ASSERT_TRUE(
      MakeChannel({.pre_trigger_ns = 500'000'000'000, .post_trigger_ns = 500'000'000'000}).ok());
  auto recorder = Start();
  Push(recorder, 0, 50);
  Fire();
  absl::Status status;
  uint64_t pushed = 50;
  while (status.ok() && pushed < 2000) {
    status = PushOne(recorder, pushed);
    if (status.ok()) ++pushed;
  }
  EXPECT_EQ(Reason(status), "LUN_FULL") << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("--release"));
  EXPECT_GT(pushed, kLunBlocks - 3 * kSegmentBlocks);
  recorder.Finish(status).IgnoreError();
  const uint64_t acknowledged = recorder.admission.sink->watermarks().durable;
  recorder.admission.sink = nullptr;
  EXPECT_EQ(acknowledged, pushed);
  EXPECT_EQ(AllBlocks().size(), pushed);

  // Released, they give way.
  for (const auto& [number, recording] : Segments()) {
    ASSERT_TRUE(node_.node().recorder().KeepRecording(recording.name, false).ok());
  }
  auto again = Start();
  Push(again, 0, 100);
  EXPECT_TRUE(again.Finish().ok());
}

TEST_P(SegmentTest, ARingKeepsItsPromiseThroughAKill) {
  if (GetParam() == "memory") GTEST_SKIP() << "memory does not outlive its process";
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  uint64_t acknowledged = 0;
  std::string keep;
  {
    auto recorder = Start();
    keep = recorder.admission.accept.recording;
    Push(recorder, 0, 40);
    // Not while it is being closed.
    absl::Status kept = absl::FailedPreconditionError("");
    for (int i = 0; i < 100 && absl::IsFailedPrecondition(kept); ++i) {
      kept = node_.Meanwhile([&] { return node_.node().recorder().KeepRecording(keep, true); });
    }
    ASSERT_TRUE(kept.ok()) << kept;
    Push(recorder, 40, 900);
    acknowledged = recorder.admission.sink->watermarks().durable;
  }
  node_.Start();
  AwaitPolicies();
  EXPECT_TRUE(node_.Get(keep).kept);
  std::vector<uint64_t> blocks = AllBlocks();
  ASSERT_GE(blocks.size(), kSegmentBlocks);
  for (uint64_t i = 0; i < kSegmentBlocks; ++i) EXPECT_EQ(blocks[i], i);
  blocks.erase(blocks.begin(), blocks.begin() + kSegmentBlocks);
  ASSERT_FALSE(blocks.empty());
  // All that was acknowledged; of what was not, anything may be there.
  EXPECT_GE(blocks.back() + 1, acknowledged);
  for (size_t i = 0; blocks[0] + i < acknowledged; ++i) ASSERT_EQ(blocks[i], blocks[0] + i);
}

TEST_P(SegmentTest, AStreamOfKnownLengthHasItsRoom) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start({.expected_blocks = 200});
  const auto second = node_.Record({.channel = kChannel, .expected_blocks = 100});
  EXPECT_EQ(Reason(second.status()), "LUN_FULL") << second.status();
  Push(recorder, 0, 200);
  EXPECT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  EXPECT_EQ(AllBlocks().size(), 200u);
  EXPECT_EQ(Segments().size(), 13u);
}

TEST_P(SegmentTest, RefusesWhatCannotWork) {
  MakeRing();
  const uint64_t capacity = node_.node().luns().GetLun("luns/ring")->capacity_bytes;
  EXPECT_EQ(Reason(MakeChannel({.segment_bytes = capacity / 2})), "ARGUMENT_INVALID");
  services::Lun lun{.name = "luns/x", .store = "posix", .full_policy = FullPolicy::kRing};
  lun.members = {node_.dir().Make("x")};
  EXPECT_EQ(Reason(node_.node().luns().CreateLun(lun, "").status()), "ARGUMENT_INVALID");
  lun.capacity_bytes = 1 << 30;
  EXPECT_TRUE(node_.node().luns().CreateLun(lun, "").ok()) << "nothing was left behind";
}

INSTANTIATE_TEST_SUITE_P(Stores, SegmentTest, testing::Values("memory", "posix", "device"),
                         StoreOf);

}  // namespace
}  // namespace tapedeck::storage_node
