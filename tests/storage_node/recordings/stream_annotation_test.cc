// Each annotation of a stream in segments lies in the segment that has its sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage_node/capture/segment_fixture.h"

namespace tapedeck::storage_node {
namespace {

constexpr uint64_t kBlockSamples = kBlockBytes / 8;
constexpr uint64_t kSegmentSamples = kSegmentBlocks * kBlockSamples;

class StreamAnnotationTest : public SegmentTest {
 protected:
  absl::Status AnnotateStream(const std::string& recording,
                              const std::vector<services::Annotation>& annotations) {
    return node_.Meanwhile(
        [&] { return node_.node().recorder().AnnotateStream(recording, annotations); });
  }
  // The samples that the annotations of each segment begin at.
  std::map<uint64_t, std::vector<uint64_t>> Marked() {
    std::map<uint64_t, std::vector<uint64_t>> marked;
    for (const auto& [number, segment] : Segments()) {
      const auto found = node_.node().recordings().GetRecording(segment.name);
      EXPECT_TRUE(found.ok()) << found.status();
      for (const auto& one : found->annotations) marked[number].push_back(one.sample_start);
    }
    return marked;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, StreamAnnotationTest, testing::Values("memory", "posix", "device"),
                         StoreOf);

using testing::ElementsAre;
using testing::Pair;

TEST_P(StreamAnnotationTest, GoesIntoTheSegmentWithItsSample) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  Push(recorder, 0, 40);
  const std::string first = recorder.admission.accept.recording;
  const absl::Status added = AnnotateStream(first, {{.sample_start = 5},
                                                    {.sample_start = kSegmentSamples - 1},
                                                    {.sample_start = kSegmentSamples},
                                                    {.sample_start = 2 * kSegmentSamples + 7}});
  EXPECT_TRUE(added.ok()) << added;
  const auto expected = ElementsAre(Pair(0, ElementsAre(5, kSegmentSamples - 1)),
                                    Pair(1, ElementsAre(kSegmentSamples)),
                                    Pair(2, ElementsAre(2 * kSegmentSamples + 7)));
  EXPECT_TRUE(recorder.Finish().ok());
  EXPECT_THAT(Marked(), expected);
  const absl::Status beyond =
      AnnotateStream(first, {{.sample_start = 1}, {.sample_start = 9 * kSegmentSamples}});
  EXPECT_EQ(Reason(beyond), "ARGUMENT_INVALID") << beyond;
  EXPECT_THAT(Marked(), expected) << "nothing is added of a call that is refused so";
  // By itself a segment takes what it is given.
  const auto alone = node_.Meanwhile([&] {
    return node_.node().recorder().AnnotateRecording(first, {.sample_start = kSegmentSamples});
  });
  EXPECT_TRUE(alone.ok()) << alone;
  EXPECT_THAT(Marked()[0], ElementsAre(5, kSegmentSamples - 1, kSegmentSamples));
}

TEST_P(StreamAnnotationTest, SaysThatASegmentIsGone) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  const std::string first = recorder.admission.accept.recording;
  Push(recorder, 0, 3 * kLunBlocks);
  ASSERT_FALSE(node_.node().recordings().GetRecording(first).ok()) << "the ring has deleted it";
  const auto segments = Segments();
  ASSERT_GE(segments.size(), 2u);
  const services::Recording& closed = segments.begin()->second;
  const auto gone = AnnotateStream(first, {{.sample_start = 5}});
  EXPECT_EQ(Reason(gone), "RECORDING_NOT_FOUND") << gone;
  // The newest one stays.
  const uint64_t newest = segments.rbegin()->first;
  const uint64_t there = newest * closed.blocks * kBlockSamples + 1;
  const absl::Status added = AnnotateStream(first, {{.sample_start = there}});
  EXPECT_TRUE(added.ok()) << added;
  EXPECT_THAT(Marked(), ElementsAre(Pair(newest, ElementsAre(there))));
  EXPECT_TRUE(recorder.Finish().ok());
}

// As an imported file may: the stream counts its first sample as another one than 0.
TEST_P(StreamAnnotationTest, CountsAsTheBlocksDo) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  constexpr uint64_t kFirst = 1'000'000;
  for (uint64_t i = 0; i < 2 * kSegmentBlocks; ++i) {
    ASSERT_TRUE(node_.executor().RunUntil([&] {
      auto block = recorder.admission.ring->Take();
      if (!block.has_value()) return false;
      const auto payload = Payload(i, kBlockBytes);
      PutBytes(payload, block->memory());
      block->header() = {.sequence = i,
                         .sample_index = kFirst + i * kBlockSamples,
                         .payload_bytes = kBlockBytes,
                         .crc32c = dataplane::Crc32c(payload)};
      const auto flow = recorder.admission.sink->Push(&*block);
      return flow.ok() && *flow == dataplane::Flow::kMoved;
    }));
  }
  EXPECT_TRUE(recorder.Finish().ok());
  const absl::Status added = AnnotateStream(
      recorder.admission.accept.recording,
      {{.sample_start = kFirst + kSegmentSamples - 1}, {.sample_start = kFirst + kSegmentSamples}});
  EXPECT_TRUE(added.ok()) << added;
  EXPECT_THAT(Marked(), ElementsAre(Pair(0, ElementsAre(kFirst + kSegmentSamples - 1)),
                                    Pair(1, ElementsAre(kFirst + kSegmentSamples))));
}

}  // namespace
}  // namespace tapedeck::storage_node
