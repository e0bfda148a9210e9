// A stream in segments that goes on after its session was lost: one stream, no block twice or gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/storage_node/capture/segment_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::session::Accept;
using services::session::Resume;

class ResumeSegmentsTest : public SegmentTest {
 protected:
  Recorder Again(const Accept& before, uint64_t first_block) {
    return Start({.resume = Resume{.recording = before.recording,
                                   .token = before.resume_token,
                                   .first_block = first_block}});
  }
  static absl::Status Loss() { return services::PeerLost("worker", "its stream ended"); }

  // What is there is the end of a stream of so many blocks, at least `least` of them.
  void ExpectStream(uint64_t blocks, uint64_t least) {
    const std::vector<uint64_t> all = AllBlocks();
    ASSERT_GE(all.size(), least);
    for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], blocks - all.size() + i);
    const auto segments = Segments();
    for (const auto& [number, recording] : segments) {
      EXPECT_EQ(recording.state, services::RecordingState::kSealed) << number;
      EXPECT_EQ(recording.stream, segments.begin()->second.stream);
      EXPECT_EQ(recording.blocks, number == segments.rbegin()->first
                                      ? blocks - number * kSegmentBlocks
                                      : kSegmentBlocks);
      EXPECT_THAT(node_.Verify(recording.name), testing::IsEmpty());
    }
  }
};

TEST_P(ResumeSegmentsTest, GoesOnInTheLastSegment) {
  MakeLun({.capacity_bytes = uint64_t{1} << 29});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  Push(recorder, 0, 40);
  ASSERT_TRUE(recorder.Finish(Loss()).ok());
  const Accept before = recorder.admission.accept;
  recorder.admission = {};
  auto second = Again(before, 30);
  EXPECT_EQ(second.admission.accept.recording, before.recording);
  EXPECT_EQ(second.admission.accept.next_block, 40u);
  Push(second, 40, 70);
  ASSERT_TRUE(second.Finish().ok());
  second.admission = {};
  ExpectStream(70, 70);
}

TEST_P(ResumeSegmentsTest, OpensAllThatHadBlocksToCome) {
  MakeLun({.capacity_bytes = uint64_t{1} << 29});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  Push(recorder, 0, 15);
  Push(recorder, 16, 35);  // block 15 is late
  ASSERT_TRUE(recorder.Finish(Loss()).ok());
  const Accept before = recorder.admission.accept;
  recorder.admission = {};
  auto second = Again(before, 3);
  EXPECT_EQ(second.admission.accept.next_block, 15u);
  Push(second, 15, 50);
  ASSERT_TRUE(second.Finish().ok());
  second.admission = {};
  ExpectStream(50, 50);
}

TEST_P(ResumeSegmentsTest, AtTheEndOfASegment) {
  MakeLun({.capacity_bytes = uint64_t{1} << 29});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  Push(recorder, 0, 32);
  ASSERT_TRUE(recorder.Finish(Loss()).ok());
  const Accept before = recorder.admission.accept;
  recorder.admission = {};
  auto second = Again(before, 32);
  EXPECT_EQ(second.admission.accept.next_block, 32u);
  Push(second, 32, 40);
  ASSERT_TRUE(second.Finish().ok());
  second.admission = {};
  ExpectStream(40, 40);
}

TEST_P(ResumeSegmentsTest, GoesRoundTheRing) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  Push(recorder, 0, 2 * kLunBlocks + 7);
  const Accept before = recorder.admission.accept;
  if (GetParam() == "memory") {
    ASSERT_TRUE(recorder.Finish(Loss()).ok());
    recorder.admission = {};
  } else {
    recorder.admission = {};
    node_.Start();
  }
  auto second = Again(before, 2 * kLunBlocks - 20);
  Push(second, second.admission.accept.next_block, 4 * kLunBlocks + 3);
  ASSERT_TRUE(second.Finish().ok());
  second.admission = {};
  AwaitPolicies();
  ExpectStream(4 * kLunBlocks + 3, kLunBlocks * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(Stores, ResumeSegmentsTest, testing::Values("memory", "posix", "device"),
                         StoreOf);

}  // namespace
}  // namespace tapedeck::storage_node
