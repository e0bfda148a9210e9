// Triggers of a channel in segments that wait for their samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage_node/capture/segment_fixture.h"

namespace tapedeck::storage_node {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kBlockSamples = kBlockBytes / 8;

class SegmentTriggersTest : public SegmentTest {
 protected:
  Recorder StartStream() {
    MakeRing();
    EXPECT_TRUE(MakeChannel({.pre_trigger_ns = 4'000'000'000}).ok());
    return Start();
  }
  // A block that begins with this sample.
  void PushAt(Recorder& recorder, uint64_t sequence, uint64_t sample) {
    std::optional<dataplane::Block> block;
    const auto payload = Payload(sequence, kBlockBytes);
    ASSERT_TRUE(node_.executor().RunUntil([&] {
      if (!block.has_value()) block = recorder.admission.ring->Take();
      if (!block.has_value()) return false;
      PutBytes(payload, block->memory());
      block->header() = {.sequence = sequence,
                         .sample_index = sample,
                         .payload_bytes = kBlockBytes,
                         .crc32c = dataplane::Crc32c(payload)};
      const auto flow = recorder.admission.sink->Push(&*block);
      return flow.ok() && *flow == dataplane::Flow::kMoved;
    })) << sequence;
  }
  absl::Status Trigger(services::Trigger trigger) {
    return node_.Meanwhile(
        [&] { return node_.node().recorder().TriggerRecording(kChannel, trigger).status(); });
  }
  std::vector<uint64_t> Marks() {
    std::vector<uint64_t> marks;
    for (const auto& [number, segment] : Segments()) {
      for (const auto& mark : node_.Get(segment.name).annotations) {
        marks.push_back(mark.sample_start);
      }
    }
    return marks;
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, SegmentTriggersTest, testing::Values("memory"), StoreOf);

TEST_P(SegmentTriggersTest, WhatHasNotComeAtTheEndIsLogged) {
  auto recorder = StartStream();
  PushAt(recorder, 0, 0);
  EXPECT_TRUE(Trigger({.sample = 5 * kBlockSamples}).ok());
  EXPECT_TRUE(Trigger({.sample = 2 * kBlockSamples}).ok());
  PushAt(recorder, 1, kBlockSamples);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(recorder.Finish(services::PeerLost("worker", "the worker has gone")).ok());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr(absl::StrCat("a trigger's sample never arrived in its session\" sample=",
                                     2 * kBlockSamples, " triggers=2")));
  EXPECT_THAT(Marks(), ElementsAre());
}

// The stream leaves samples out, and they are known to be lost once all blocks before have come.
TEST_P(SegmentTriggersTest, WhatNeverComesGivesItsPlaceBack) {
  auto recorder = StartStream();
  PushAt(recorder, 0, 0);
  for (uint64_t i = 0; i < 64; ++i) EXPECT_TRUE(Trigger({.sample = kBlockSamples + i}).ok());
  const services::Trigger later{.sample = 30 * kBlockSamples};
  EXPECT_EQ(Reason(Trigger(later)), "LIMIT_REACHED");
  testing::internal::CaptureStderr();
  // The late block may have them.
  PushAt(recorder, 2, 3 * kBlockSamples);
  const std::string early = testing::internal::GetCapturedStderr();
  EXPECT_THAT(early, testing::Not(HasSubstr("never arrived")));
  EXPECT_EQ(Reason(Trigger(later)), "LIMIT_REACHED");
  testing::internal::CaptureStderr();
  PushAt(recorder, 1, 2 * kBlockSamples);
  for (uint64_t i = 3; i < 20; ++i) PushAt(recorder, i, (i + 1) * kBlockSamples);
  absl::Status taken;
  EXPECT_TRUE(node_.executor().RunUntil([&] {
    taken = Trigger(later);
    return taken.ok();
  })) << taken;
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("triggers=64"));
  for (uint64_t i = 20; i < 40; ++i) PushAt(recorder, i, (i + 1) * kBlockSamples);
  EXPECT_TRUE(recorder.Finish().ok());
  EXPECT_THAT(Marks(), ElementsAre(30 * kBlockSamples));
}

TEST_P(SegmentTriggersTest, BeforeTheFirstSampleItIsTheFirst) {
  auto recorder = StartStream();
  EXPECT_TRUE(Trigger({.label = "early"}).ok());
  PushAt(recorder, 0, 1'000'000);
  PushAt(recorder, 1, 1'000'000 + kBlockSamples);
  EXPECT_TRUE(recorder.Finish().ok());
  EXPECT_THAT(Marks(), ElementsAre(1'000'000u));
  EXPECT_TRUE(Segments().begin()->second.kept);
}

}  // namespace
}  // namespace tapedeck::storage_node
