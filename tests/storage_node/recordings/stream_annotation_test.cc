// Each annotation of a stream in segments lies in the segments that have its samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "services/model/recording/lost.h"
#include "tests/storage_node/capture/segment_fixture.h"

namespace tapedeck::storage_node {
namespace {

constexpr uint64_t kBlockSamples = kBlockBytes / 8;
constexpr uint64_t kSegmentSamples = kSegmentBlocks * kBlockSamples;

class StreamAnnotationTest : public SegmentTest {
 protected:
  // As a client: until all are done, or one cannot be.
  absl::Status AnnotateStream(const std::string& recording,
                              std::vector<services::Annotation> annotations) {
    marked_ = {};
    while (marked_.done < annotations.size()) {
      const auto marked = node_.Meanwhile([&] {
        return node_.node().recorder().AnnotateStream(recording,
                                                      std::span(annotations).subspan(marked_.done));
      });
      if (!marked.ok()) return marked.status();
      marked_.done += marked->done;
      marked_.left_out += marked->left_out;
      marked_.next_sample = marked->next_sample;
      if (marked_.next_sample == 0) continue;
      services::Annotation& next = annotations[marked_.done];
      next.sample_count -= marked_.next_sample - next.sample_start;
      next.sample_start = marked_.next_sample;
    }
    return absl::OkStatus();
  }
  // The samples that the annotations of each segment begin at.
  std::map<uint64_t, std::vector<uint64_t>> Marked() {
    std::map<uint64_t, std::vector<uint64_t>> marked;
    for (const auto& [number, segment] : Segments()) {
      const auto found = node_.node().recordings().GetRecording(segment.name);
      if (absl::IsNotFound(found.status())) continue;  // deleted since the list, by its age
      EXPECT_TRUE(found.ok()) << found.status();
      for (const auto& one : found->annotations) marked[number].push_back(one.sample_start);
    }
    return marked;
  }

  services::model::Marked marked_;  // of the last call
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
  const absl::Status to_come = AnnotateStream(first, {{.sample_start = 9 * kSegmentSamples}});
  EXPECT_EQ(Reason(to_come), "ARGUMENT_INVALID") << to_come;
  EXPECT_TRUE(recorder.Finish().ok());
  EXPECT_THAT(Marked(), expected);
  // By itself a segment takes what it is given.
  const auto alone = node_.Meanwhile([&] {
    return node_.node().recorder().AnnotateRecording(first, {.sample_start = kSegmentSamples});
  });
  EXPECT_TRUE(alone.ok()) << alone;
  EXPECT_THAT(Marked()[0], ElementsAre(5, kSegmentSamples - 1, kSegmentSamples));
}

TEST_P(StreamAnnotationTest, LostSamplesAreToldInEachSegmentThatHasAny) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  const std::string first = recorder.admission.accept.recording;
  Push(recorder, 0, 3 * kSegmentBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  const services::Annotation lost{
      .sample_start = 5, .sample_count = 3 * kSegmentSamples - 10, .label = "lost"};
  const absl::Status added = AnnotateStream(first, {lost});
  EXPECT_TRUE(added.ok()) << added;
  EXPECT_EQ(marked_.left_out, 0u);
  EXPECT_THAT(Marked(), ElementsAre(Pair(0, ElementsAre(5)), Pair(1, ElementsAre(kSegmentSamples)),
                                    Pair(2, ElementsAre(2 * kSegmentSamples))));
  const absl::Status other =
      AnnotateStream(first, {{.sample_start = 6, .sample_count = 2 * kSegmentSamples}});
  EXPECT_TRUE(other.ok()) << other;
  EXPECT_THAT(Marked()[0], ElementsAre(5, 6)) << "one of another kind is in its first one alone";
  EXPECT_THAT(Marked()[1], ElementsAre(kSegmentSamples));
  std::vector<uint64_t> counts;
  for (const auto& [number, segment] : Segments()) {
    const auto found = node_.node().recordings().GetRecording(segment.name);
    counts.push_back(found->annotations.front().sample_count);
  }
  EXPECT_THAT(counts, ElementsAre(kSegmentSamples - 5, kSegmentSamples, kSegmentSamples - 5));
}

// Of the losses that are told together none is known to lie in a segment.
TEST_P(StreamAnnotationTest, LossesToldTogetherSayInEachSegmentWhereAllLie) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  Push(recorder, 0, 2 * kSegmentBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  const services::Annotation lost{.sample_start = kSegmentSamples - 5,
                                  .sample_count = 10,
                                  .label = "lost",
                                  .comment = services::model::TextOfLost(7, 3)};
  const absl::Status added = AnnotateStream(recorder.admission.accept.recording, {lost});
  EXPECT_TRUE(added.ok()) << added;
  for (const auto& [number, segment] : Segments()) {
    const auto marks = node_.Get(segment.name).annotations;
    ASSERT_THAT(marks, testing::SizeIs(1));
    EXPECT_EQ(marks[0].sample_count, 5u);
    EXPECT_EQ(services::model::LostTogetherIn(marks[0]), services::model::LostTogetherIn(lost));
  }
}

TEST_P(StreamAnnotationTest, LostSamplesThatAreToComeAreToldWhenTheyHave) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  const std::string first = recorder.admission.accept.recording;
  Push(recorder, 0, kSegmentBlocks);
  constexpr uint64_t kLost = 6 * kSegmentSamples;
  const absl::Status to_come =
      AnnotateStream(first, {{.sample_start = 0, .sample_count = kLost, .label = "lost"}});
  EXPECT_EQ(Reason(to_come), "ARGUMENT_INVALID") << to_come;
  const uint64_t rest = marked_.next_sample;
  EXPECT_GT(rest, 0u);
  EXPECT_LT(rest, kLost);
  Push(recorder, kSegmentBlocks, 6 * kSegmentBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  const absl::Status added = AnnotateStream(
      first, {{.sample_start = rest, .sample_count = kLost - rest, .label = "lost"}});
  EXPECT_TRUE(added.ok()) << added;
  for (const auto& [number, marks] : Marked()) {
    EXPECT_THAT(marks, ElementsAre(number * kSegmentSamples));
  }
  EXPECT_THAT(Marked(), testing::SizeIs(6));
}

TEST_P(StreamAnnotationTest, WhatBelongsToASegmentThatIsGoneIsLeftOut) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  const std::string first = recorder.admission.accept.recording;
  Push(recorder, 0, 3 * kLunBlocks);
  ASSERT_FALSE(node_.node().recordings().GetRecording(first).ok()) << "the ring has deleted it";
  const auto segments = Segments();
  ASSERT_GE(segments.size(), 2u);
  const services::Recording& closed = segments.begin()->second;
  const auto gone = AnnotateStream(first, {{.sample_start = 5}, {.sample_start = 6}});
  EXPECT_TRUE(gone.ok()) << gone;
  EXPECT_EQ(marked_.left_out, 2u);
  // The newest one stays.
  const uint64_t newest = segments.rbegin()->first;
  const uint64_t there = newest * closed.blocks * kBlockSamples + 1;
  const absl::Status added =
      AnnotateStream(first, {{.sample_start = 5, .sample_count = there - 4, .label = "lost"}});
  EXPECT_TRUE(added.ok()) << added;
  EXPECT_EQ(marked_.left_out, 0u) << "it lasts into those there are";
  const auto marked = Marked();
  EXPECT_GE(marked.size(), 2u);
  for (const auto& [number, segment] : Segments()) {
    EXPECT_EQ(marked.contains(number), number <= newest) << number;
  }
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
