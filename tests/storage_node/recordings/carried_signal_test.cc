// A segment tells the signal that holds at its first sample, also once those before it are gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage_node/capture/segment_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::Annotation;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kSamplesEach = kSegmentBlocks * kBlockBytes / 8;

Annotation SignalAt(uint64_t sample, const std::string& text) {
  return {.sample_start = sample, .label = "signal", .comment = text};
}

class CarriedSignalTest : public SegmentTest {
 protected:
  void Annotate(const std::string& recording, const std::vector<Annotation>& annotations) {
    const auto marked = node_.Meanwhile(
        [&] { return node_.node().recorder().AnnotateStream(recording, annotations); });
    ASSERT_TRUE(marked.ok()) << marked.status();
    EXPECT_EQ(marked->done, annotations.size());
    EXPECT_EQ(marked->left_out, 0u);
  }
  // A closed stream of so many segments.
  std::vector<std::string> Record(uint64_t segments) {
    MakeLun({});
    EXPECT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
    auto recorder = Start();
    Push(recorder, 0, segments * kSegmentBlocks);
    EXPECT_TRUE(recorder.Finish().ok());
    recorder.admission = {};
    std::vector<std::string> names;
    for (const auto& [number, segment] : Segments()) names.push_back(segment.name);
    return names;
  }
  void Delete(const std::string& name) {
    const absl::Status deleted = node_.node().recordings().DeleteRecording(name, "");
    ASSERT_TRUE(deleted.ok()) << deleted;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, CarriedSignalTest, testing::Values("memory", "posix", "device"),
                         StoreOf);

TEST_P(CarriedSignalTest, ARingHandsItOn) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  const std::string first = recorder.admission.accept.recording;
  Push(recorder, 0, kSegmentBlocks);
  const Annotation old = SignalAt(3, "frequency=1 gain=5");
  const Annotation signal = SignalAt(5, "frequency=433920000");
  Annotate(first, {old, signal, {.sample_start = 6, .label = "seen"}});
  Push(recorder, kSegmentBlocks, kLunBlocks + 4 * kSegmentBlocks);
  EXPECT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  AwaitPolicies();
  const auto segments = Segments();
  ASSERT_GT(segments.begin()->first, 1u) << "the ring has deleted the first ones";
  const std::string oldest = segments.begin()->second.name;
  EXPECT_THAT(node_.Get(oldest).annotations, ElementsAre(old, signal));
  const auto timeline = node_.node().view().GetTimeline(oldest);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_EQ(timeline->frequency, 433'920'000);
  EXPECT_EQ(timeline->captures.front().frequency, 433'920'000);
  EXPECT_THAT(timeline->annotations, IsEmpty());
  for (const auto& [number, segment] : segments) {
    if (segment.name == oldest) continue;
    EXPECT_THAT(node_.Get(segment.name).annotations, IsEmpty()) << number << ": the oldest has it";
  }
  // What comes late, of a segment that is gone, holds in the oldest as well.
  const Annotation late = SignalAt(7, "frequency=2");
  Annotate(first, {late});
  EXPECT_THAT(node_.Get(oldest).annotations, ElementsAre(old, signal, late));
}

TEST_P(CarriedSignalTest, TheNextOneThatThereIsTakesIt) {
  const auto names = Record(5);
  ASSERT_EQ(names.size(), 5u);
  const Annotation first = SignalAt(5, "frequency=1");
  const Annotation second = SignalAt(kSamplesEach, "frequency=2");
  const Annotation fourth = SignalAt(3 * kSamplesEach + 9, "frequency=4");
  Annotate(names[0], {first, second, fourth});
  Delete(names[2]);
  Delete(names[1]);
  EXPECT_THAT(node_.Get(names[0]).annotations, ElementsAre(first));
  EXPECT_THAT(node_.Get(names[3]).annotations, ElementsAre(fourth, second));
  Delete(names[3]);
  EXPECT_THAT(node_.Get(names[4]).annotations, ElementsAre(fourth)) << "the newest of each";
  Delete(names[4]);
  EXPECT_THAT(node_.Get(names[0]).annotations, ElementsAre(first));
}

// As a power cut between the two leaves it.
TEST_P(CarriedSignalTest, WhatWasHandedOnIsNotHandedOnAgain) {
  const auto names = Record(2);
  ASSERT_EQ(names.size(), 2u);
  const Annotation signal = SignalAt(5, "frequency=1");
  Annotate(names[0], {signal});
  ASSERT_TRUE(node_.node().recorder().AnnotateRecording(names[1], signal).ok());
  Delete(names[0]);
  EXPECT_THAT(node_.Get(names[1]).annotations, ElementsAre(signal));
}

}  // namespace
}  // namespace tapedeck::storage_node
