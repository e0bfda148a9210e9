// The last segment says why its stream ended, also where that was full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/base/errors.h"
#include "storage_node/recording/writing/end_of_space.h"
#include "tests/storage_node/capture/segment_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::RecordingState;
using testing::HasSubstr;

constexpr uint64_t kEnd = 2 * kSegmentBlocks;
constexpr uint64_t kLate = kEnd - 2;

class StreamEndTest : public SegmentTest {
 protected:
  Recorder StartStream(uint64_t capacity_bytes = 0, services::session::Open open = {}) {
    MakeLun({.capacity_bytes = capacity_bytes});
    EXPECT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
    return Start(std::move(open));
  }
  // Gives a LUN with room for two segments more than it can take, but for block kLate.
  void LeaveOut(Recorder& recorder) {
    Push(recorder, 0, kLate);
    Push(recorder, kLate + 1, kEnd + 3);
    EXPECT_TRUE(recorder.admission.sink->status().ok());
    EXPECT_EQ(recorder.admission.sink->watermarks().received, kLate);
  }
  // The state of the last of `segments`, and its cause. Those before it ended well.
  std::string LastOf(size_t segments) {
    const auto found = Segments();
    EXPECT_EQ(found.size(), segments);
    for (const auto& [number, segment] : found) {
      EXPECT_EQ(segment.blocks, kSegmentBlocks);
      if (number + 1 == segments) break;
      EXPECT_EQ(segment.state, RecordingState::kSealed) << number;
      EXPECT_EQ(segment.cause, "") << number;
    }
    const services::Recording& last = found.rbegin()->second;
    return std::string(services::model::NameOf(last.state)) + " " + last.cause;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, StreamEndTest, testing::Values("memory", "posix", "device"),
                         StoreOf);

TEST_P(StreamEndTest, ALossBehindAFullSegmentIsItsCause) {
  auto recorder = StartStream();
  Push(recorder, 0, 2 * kSegmentBlocks);
  EXPECT_TRUE(recorder.Finish(services::PeerLost("worker", "the worker has gone")).ok());
  EXPECT_EQ(LastOf(2), "SALVAGED UNAVAILABLE: the worker has gone");
}

TEST_P(StreamEndTest, SoIsACancellation) {
  auto recorder = StartStream();
  Push(recorder, 0, kSegmentBlocks);
  EXPECT_TRUE(recorder.Finish(absl::CancelledError("its user stopped it")).ok());
  EXPECT_EQ(LastOf(1), "SALVAGED CANCELLED: its user stopped it");
  auto again = node_.Record(
      {.channel = kChannel,
       .resume = services::session::Resume{.recording = recorder.admission.accept.recording,
                                           .token = recorder.admission.accept.resume_token,
                                           .first_block = kSegmentBlocks}});
  EXPECT_EQ(Reason(again.status()), "RESUME_REFUSED") << "nobody goes on with what was cancelled";
}

TEST_P(StreamEndTest, SoIsAFullLun) {
  auto recorder = StartStream(2 * Takes(GetParam(), kSegmentBlocks));
  Push(recorder, 0, 2 * kSegmentBlocks);
  const absl::Status full = PushOne(recorder, 2 * kSegmentBlocks);
  ASSERT_EQ(Reason(full), "LUN_FULL") << full;
  EXPECT_TRUE(recorder.Finish(full).ok());
  EXPECT_THAT(LastOf(2), HasSubstr("SALVAGED RESOURCE_EXHAUSTED: "));
}

// Two rails in turns, the second ahead. The LUN has no room from block 32 on.
TEST_P(StreamEndTest, AFullLunTakesTheBlocksBeforeItsEnd) {
  auto recorder = StartStream(2 * Takes(GetParam(), kSegmentBlocks));
  Push(recorder, 0, kEnd - 4);
  for (const uint64_t sequence :
       {kEnd - 3, kEnd - 1, kEnd + 1, kEnd + 3, kEnd - 4, kEnd, kEnd - 2}) {
    EXPECT_TRUE(recorder.admission.sink->status().ok());
    const absl::Status taken = PushOne(recorder, sequence);
    ASSERT_TRUE(taken.ok()) << sequence << ": " << taken;
  }
  const absl::Status full = recorder.admission.sink->status();
  ASSERT_EQ(Reason(full), "LUN_FULL") << full;
  EXPECT_EQ(PushOne(recorder, kEnd + 2), full);
  EXPECT_TRUE(recorder.Finish(full).ok());
  EXPECT_THAT(LastOf(2), HasSubstr("SALVAGED RESOURCE_EXHAUSTED: "));
  EXPECT_EQ(Segments()[1].missing_blocks, 0u);
  EXPECT_EQ(AllBlocks().size(), kEnd);
}

TEST_P(StreamEndTest, AFullLunDoesNotWaitForEver) {
  auto recorder = StartStream(2 * Takes(GetParam(), kSegmentBlocks));
  bool woken = false;
  recorder.admission.sink->SetWaker([&] { woken = true; });
  LeaveOut(recorder);
  const int64_t begin_ns = node_.executor().clock().NowNs();
  const auto sink_status = [&] { return recorder.admission.sink->status(); };
  woken = false;
  ASSERT_TRUE(node_.executor().RunUntil([&] { return !sink_status().ok(); }));
  EXPECT_TRUE(woken);
  EXPECT_GE(node_.executor().clock().NowNs() - begin_ns, recording::kLateBlocksNs);
  EXPECT_EQ(Reason(sink_status()), "LUN_FULL") << sink_status();
  EXPECT_TRUE(recorder.Finish(sink_status()).ok());
  EXPECT_THAT(LastOf(2), HasSubstr("SALVAGED RESOURCE_EXHAUSTED: "));
  EXPECT_EQ(Segments()[1].missing_blocks, 1u);
}

TEST_P(StreamEndTest, AFullLunIsToldEvenIfTheSessionEndsInOrder) {
  auto recorder = StartStream(2 * Takes(GetParam(), kSegmentBlocks));
  LeaveOut(recorder);
  EXPECT_EQ(Reason(recorder.Finish()), "LUN_FULL");
  EXPECT_THAT(LastOf(2), HasSubstr("SALVAGED RESOURCE_EXHAUSTED: "));
}

TEST_P(StreamEndTest, ASessionLostBeforeTheEndOfAFullLunGoesOn) {
  auto recorder = StartStream(2 * Takes(GetParam(), kSegmentBlocks));
  const auto before = recorder.admission.accept;
  LeaveOut(recorder);
  EXPECT_TRUE(recorder.Finish(services::PeerLost("worker", "the worker has gone")).ok());
  EXPECT_EQ(LastOf(2), "SALVAGED UNAVAILABLE: the worker has gone");
  recorder.admission.sink = nullptr;
  auto again = Start(
      {.resume = services::session::Resume{
           .recording = before.recording, .token = before.resume_token, .first_block = kLate}});
  EXPECT_EQ(again.admission.accept.next_block, kLate);
  Push(again, kLate, kEnd);
  const absl::Status full = PushOne(again, kEnd);
  ASSERT_EQ(Reason(full), "LUN_FULL") << full;
  EXPECT_TRUE(again.Finish(full).ok());
  EXPECT_THAT(LastOf(2), HasSubstr("SALVAGED RESOURCE_EXHAUSTED: "));
  EXPECT_EQ(AllBlocks().size(), kEnd);
}

TEST_P(StreamEndTest, AnEarlyEndWithoutAFailureIsSealed) {
  auto recorder = StartStream();
  Push(recorder, 0, kSegmentBlocks);
  recorder.admission.sink->EndEarly("the source fell silent");
  EXPECT_TRUE(recorder.Finish().ok());
  EXPECT_EQ(LastOf(1), "SEALED the source fell silent");
}

TEST_P(StreamEndTest, AStreamThatEndsWellSaysNothing) {
  auto recorder = StartStream();
  Push(recorder, 0, kSegmentBlocks);
  EXPECT_TRUE(recorder.Finish().ok());
  EXPECT_EQ(LastOf(1), "SEALED ");
}

TEST_P(StreamEndTest, AStreamThatGoesOnForgetsIt) {
  auto recorder = StartStream();
  const auto before = recorder.admission.accept;
  Push(recorder, 0, kSegmentBlocks);
  EXPECT_TRUE(recorder.Finish(services::PeerLost("worker", "the worker has gone")).ok());
  recorder.admission.sink = nullptr;
  auto again = Start({.resume = services::session::Resume{.recording = before.recording,
                                                          .token = before.resume_token,
                                                          .first_block = kSegmentBlocks}});
  Push(again, kSegmentBlocks, 2 * kSegmentBlocks);
  EXPECT_TRUE(again.Finish().ok());
  EXPECT_EQ(LastOf(2), "SEALED ");
}

// A session goes on with the segment before the one that filled it has ended.
TEST_P(StreamEndTest, ACauseThatIsNotWrittenIsLogged) {
  auto recorder = StartStream(Takes(GetParam(), kSegmentBlocks));
  const auto before = recorder.admission.accept;
  Push(recorder, 0, kSegmentBlocks);
  ASSERT_TRUE(node_.executor().RunUntil(
      [&] { return node_.Get(before.recording).state == RecordingState::kSealed; }));
  auto again = Start({.resume = services::session::Resume{.recording = before.recording,
                                                          .token = before.resume_token,
                                                          .first_block = kSegmentBlocks}});
  testing::internal::CaptureStderr();
  EXPECT_TRUE(recorder.Finish(services::PeerLost("worker", "the worker has gone")).ok());
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("does not say why its session ended"));
  EXPECT_THAT(log, HasSubstr("cause=\"the worker has gone\""));
  EXPECT_TRUE(again.Finish().ok());
  EXPECT_EQ(LastOf(1), "SEALED ");
}

}  // namespace
}  // namespace tapedeck::storage_node
