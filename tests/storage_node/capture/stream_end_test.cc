// The last segment says why its stream ended, also where that was full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/errors.h"
#include "tests/storage_node/capture/segment_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::RecordingState;
using testing::HasSubstr;

class StreamEndTest : public SegmentTest {
 protected:
  Recorder StartStream(uint64_t capacity_bytes = 0, services::session::Open open = {}) {
    MakeLun({.capacity_bytes = capacity_bytes});
    EXPECT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
    return Start(std::move(open));
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

}  // namespace
}  // namespace tapedeck::storage_node
