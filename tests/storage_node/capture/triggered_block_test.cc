// Blocks that say themselves which of their samples trigger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage_node/capture/trigger_fixture.h"

namespace tapedeck::storage_node {
namespace {

using dataplane::Triggers;
using testing::ElementsAre;

class TriggeredBlockTest : public TriggerTest {
 protected:
  // What has been recorded, the oldest first, closed.
  std::vector<services::Recording> Captures(size_t count) {
    std::vector<services::Recording> closed;
    EXPECT_TRUE(node_.executor().RunUntil([&] {
      closed.clear();
      const auto listed = node_.node().recordings().ListRecordings(kTriggered);
      for (const services::Recording& recording : *listed) {
        if (recording.blocks > 0 && recording.state == services::RecordingState::kSealed) {
          closed.push_back(recording);
        }
      }
      return closed.size() == count;
    })) << closed.size();
    std::ranges::sort(closed, {}, FirstMarkOf);
    return closed;
  }

  static uint64_t FirstMarkOf(const services::Recording& recording) {
    return recording.annotations.empty() ? 0 : recording.annotations[0].sample_start;
  }
  static std::vector<uint64_t> MarksOf(const services::Recording& recording) {
    std::vector<uint64_t> samples;
    for (const services::Annotation& one : recording.annotations) {
      EXPECT_EQ(one.label, "trigger");
      samples.push_back(one.sample_start);
    }
    return samples;
  }
};

TEST_F(TriggeredBlockTest, KeepsExactlyWhatIsBeforeAndAfter) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 30);
  // Of its first sample the window begins with a whole block.
  ASSERT_TRUE(PushOne(recorder, 30, Triggers{}).ok());
  Push(recorder, 31, 60);
  ASSERT_TRUE(PushOne(recorder, 60, Triggers{.first = 7, .last = 7}).ok());
  Push(recorder, 61, 90);
  const auto captures = Captures(2);
  EXPECT_THAT(BlocksOf(captures[0].name), ElementsAre(27, 28, 29, 30, 31));
  EXPECT_THAT(MarksOf(captures[0]), ElementsAre(30 * kSamples));
  EXPECT_THAT(BlocksOf(captures[1].name), ElementsAre(57, 58, 59, 60, 61, 62));
  EXPECT_THAT(MarksOf(captures[1]), ElementsAre(60 * kSamples + 7));
  EXPECT_THAT(node_.Verify(captures[1].name), testing::IsEmpty());
}

TEST_F(TriggeredBlockTest, TwoInABlockAndInTheNextAreOneCapture) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 10);
  ASSERT_TRUE(PushOne(recorder, 10, Triggers{.first = 5, .last = kSamples - 1}).ok());
  ASSERT_TRUE(PushOne(recorder, 11, Triggers{.first = 1, .last = 1}).ok());
  Push(recorder, 12, 30);
  const auto captures = Captures(1);
  EXPECT_THAT(BlocksOf(captures[0].name), ElementsAre(7, 8, 9, 10, 11, 12, 13));
  EXPECT_THAT(MarksOf(captures[0]),
              ElementsAre(10 * kSamples + 5, 11 * kSamples - 1, 11 * kSamples + 1));
}

// However long a recording takes to be made: those that come meanwhile wait, and none is left out.
TEST_F(TriggeredBlockTest, EveryBurstHasItsWholeCapture) {
  constexpr uint64_t kBursts = 40, kApart = 7;
  auto recorder = *node_.Record({.channel = kTriggered});
  for (uint64_t i = 0; i < kBursts * kApart; ++i) {
    std::optional<Triggers> triggers;
    if (i % kApart == 3) triggers = {.first = 8191, .last = 8191};
    ASSERT_TRUE(PushOne(recorder, i, triggers).ok()) << i;
  }
  const auto captures = Captures(kBursts);
  for (uint64_t burst = 0; burst < kBursts; ++burst) {
    const uint64_t block = burst * kApart + 3;
    EXPECT_THAT(MarksOf(captures[burst]), ElementsAre(block * kSamples + 8191));
    EXPECT_THAT(BlocksOf(captures[burst].name),
                ElementsAre(block - 3, block - 2, block - 1, block, block + 1, block + 2));
  }
}

TEST_F(TriggeredBlockTest, OfTwoRailsTheyTriggerInOrder) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 10);
  ASSERT_TRUE(PushOne(recorder, 17, Triggers{}).ok());
  ASSERT_TRUE(PushOne(recorder, 11).ok());
  ASSERT_TRUE(PushOne(recorder, 10, Triggers{}).ok());
  Push(recorder, 12, 17);
  Push(recorder, 18, 30);
  const auto captures = Captures(2);
  EXPECT_THAT(BlocksOf(captures[0].name), ElementsAre(7, 8, 9, 10, 11));
  EXPECT_THAT(BlocksOf(captures[1].name), ElementsAre(14, 15, 16, 17, 18));
}

TEST_F(TriggeredBlockTest, TheLastBlockOfAStreamTriggersToo) {
  auto recorder = *node_.Record({.channel = kTriggered});
  Push(recorder, 0, 10);
  ASSERT_TRUE(PushOne(recorder, 10, Triggers{}).ok());
  Push(recorder, 11, 16);
  ASSERT_TRUE(PushOne(recorder, 16, Triggers{}).ok());
  EXPECT_TRUE(recorder.Finish().ok());
  std::vector<services::Recording> all = *node_.node().recordings().ListRecordings(kTriggered);
  std::ranges::sort(all, {}, FirstMarkOf);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(BlocksOf(all[0].name), ElementsAre(7, 8, 9, 10, 11));
  EXPECT_THAT(BlocksOf(all[1].name), ElementsAre(13, 14, 15, 16));
  EXPECT_EQ(all[1].state, services::RecordingState::kSealed);
}

TEST_F(TriggeredBlockTest, ARecordingThatNothingTriggersMarksThem) {
  auto recorder = *node_.Record();
  const std::string name = recorder.admission.accept.recording;
  ASSERT_TRUE(PushOne(recorder, 0, Triggers{.first = 3, .last = 9}).ok());
  EXPECT_TRUE(recorder.Finish().ok());
  EXPECT_THAT(MarksOf(node_.Get(name)), ElementsAre(3, 9));
  EXPECT_THAT(node_.Verify(name), testing::IsEmpty());
}

TEST_F(TriggeredBlockTest, WhatLiesBehindTheBlockIsRefused) {
  for (const Triggers triggers :
       {Triggers{.first = kBlockBytes, .last = kBlockBytes}, Triggers{.first = 2, .last = 1}}) {
    auto recorder = *node_.Record({.channel = kTriggered});
    EXPECT_EQ(Reason(PushOne(recorder, 0, triggers)), "PROTOCOL_VIOLATION");
  }
}

}  // namespace
}  // namespace tapedeck::storage_node
