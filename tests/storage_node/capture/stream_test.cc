// Playbacks that go on from segment to segment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <set>
#include <utility>

#include "storage_node/capture/stream_source.h"
#include "tests/storage_node/capture/segment_fixture.h"

namespace tapedeck::storage_node {
namespace {

using StreamTest = SegmentTest;

// More than twice around the ring.
constexpr uint64_t kStreamBlocks = 600;

TEST_P(StreamTest, APlaybackGoesOnWithTheNextSegment) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  Push(recorder, 0, kStreamBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  AwaitPolicies();
  const auto segments = Segments();
  const uint64_t oldest = segments.begin()->first * kSegmentBlocks;
  const auto [all, end] = Stream(segments.begin()->second.name);
  EXPECT_TRUE(end.ok()) << end;
  ASSERT_EQ(all.size(), kStreamBlocks - oldest);
  EXPECT_EQ(all.front(), oldest);
  EXPECT_EQ(all.back(), kStreamBlocks - 1);

  // A sample may lie in any segment, whichever is named.
  using Unit = services::model::Playhead::Unit;
  for (const uint64_t from :
       {oldest, oldest + 1, oldest + kSegmentBlocks - 1, kStreamBlocks - 100, kStreamBlocks - 1}) {
    const auto start = static_cast<int64_t>(from * 1000 + 500);
    const auto [blocks, status] =
        Stream(segments.rbegin()->second.name, {.unit = Unit::kSample, .start = start});
    EXPECT_TRUE(status.ok()) << status;
    ASSERT_EQ(blocks.size(), kStreamBlocks - from);
    EXPECT_EQ(blocks.front(), from);
  }
  const auto [early, status] =
      Stream(segments.rbegin()->second.name, {.unit = Unit::kSample, .start = 1});
  EXPECT_EQ(early.size(), all.size());
}

TEST_P(StreamTest, ABlockIsGivenAgainAfterItsSegmentHasEnded) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  Push(recorder, 0, 40);
  ASSERT_TRUE(recorder.Finish().ok());
  auto player = node_.Play(recorder.admission.accept.recording, {.playhead = {.stream = true}});
  ASSERT_TRUE(player.ok());
  dataplane::BlockHeader last_of_first;
  for (uint64_t i = 0; i < 20; ++i) {
    auto block = node_.Pull(*player->source);
    ASSERT_TRUE(block.ok() && block->has_value());
    if (i == kSegmentBlocks - 1) last_of_first = (*block)->header();
  }
  ASSERT_TRUE(player->source->Reject(last_of_first).ok());
  std::set<uint64_t> rest;
  while (true) {
    auto block = node_.Pull(*player->source);
    ASSERT_TRUE(block.ok());
    if (!block->has_value()) break;
    const uint64_t number = (*block)->header().sample_index / 1000;
    EXPECT_EQ((*block)->header().sequence, number);
    EXPECT_TRUE(rest.insert(number).second);
  }
  EXPECT_TRUE(rest.contains(kSegmentBlocks - 1));
  EXPECT_EQ(rest.size(), 21u);
}

TEST_P(StreamTest, ASegmentThatWasGoneBeforeIsMissing) {
  MakeLun({.capacity_bytes = uint64_t{1} << 28});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  Push(recorder, 0, 5 * kSegmentBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  auto segments = Segments();
  for (const uint64_t gone : {1, 2}) {
    ASSERT_TRUE(node_.node().recordings().DeleteRecording(segments[gone].name).ok());
  }
  auto player = node_.Play(segments[0].name, {.playhead = {.stream = true}});
  ASSERT_TRUE(player.ok()) << player.status();
  uint64_t number = 0;
  for (;; ++number) {
    auto block = node_.Pull(*player->source);
    ASSERT_TRUE(block.ok()) << block.status();
    if (!block->has_value()) break;
    const bool is_gone = number / kSegmentBlocks == 1 || number / kSegmentBlocks == 2;
    const dataplane::BlockHeader& header = (*block)->header();
    EXPECT_EQ(header.sequence, number);
    EXPECT_EQ((header.flags & dataplane::kBlockMissing) != 0, is_gone) << number;
    // A missing block counts as many samples as a block has, a recorder's 1000.
    EXPECT_TRUE(is_gone || header.sample_index == number * 1000) << number;
    player->source->Acknowledge(number + 1);
  }
  EXPECT_EQ(number, 5 * kSegmentBlocks);
}

TEST_P(StreamTest, ASegmentThatGoesWhileItIsPlayedIsTold) {
  MakeLun({.capacity_bytes = uint64_t{1} << 28});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  Push(recorder, 0, 4 * kSegmentBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  auto segments = Segments();
  auto player = node_.Play(segments[0].name, {.playhead = {.stream = true}});
  ASSERT_TRUE(player.ok()) << player.status();
  ASSERT_TRUE(node_.node().recordings().DeleteRecording(segments[1].name).ok());
  absl::Status end;
  while (end.ok()) {
    auto block = node_.Pull(*player->source);
    ASSERT_TRUE(!block.ok() || block->has_value());
    end = block.status();
  }
  EXPECT_EQ(Reason(end), "RECORDING_NOT_FOUND");
  EXPECT_TRUE(absl::IsDataLoss(end)) << end;
}

// Who plays a stream that is being written as far as it is does not run after it for ever.
TEST_P(StreamTest, APlaybackThatDoesNotFollowEndsWithWhatThereWas) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  Push(recorder, 0, 2 * kSegmentBlocks + 8);
  EXPECT_TRUE(node_.executor().RunUntil(
      [&] { return Segments()[1].state == services::RecordingState::kSealed; }));
  auto player = node_.Play(recorder.admission.accept.recording, {.playhead = {.stream = true}});
  ASSERT_TRUE(player.ok()) << player.status();
  Push(recorder, 2 * kSegmentBlocks + 8, 8 * kSegmentBlocks);
  AwaitPolicies();
  uint64_t played = 0;
  for (bool end = false; !end; played += end ? 0 : 1) {
    auto block = node_.Pull(*player->source);
    ASSERT_TRUE(block.ok()) << block.status();
    end = !block->has_value();
    if (!end) player->source->Acknowledge(played + 1);
  }
  // With the segment that was being written, and one that may have been made ahead.
  EXPECT_GE(played, 3 * kSegmentBlocks);
  EXPECT_LE(played, 4 * kSegmentBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
}

// A reader with one block, which answers the pulls as it was told.
class ToldReader final : public dataplane::Source {
 public:
  explicit ToldReader(std::deque<dataplane::Flow> answers) : answers_(std::move(answers)) {}

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override {
    const dataplane::Flow flow = answers_.front();
    if (answers_.size() > 1) answers_.pop_front();
    if (flow == dataplane::Flow::kMoved) *block = dataplane::Block::Missing({});
    return flow;
  }
  void SetWaker(dataplane::Waker) override {}
  void Acknowledge(uint64_t) override {}
  absl::Status Reject(const dataplane::BlockHeader&) override { return absl::OkStatus(); }

 private:
  std::deque<dataplane::Flow> answers_;
};

TEST(StreamSource, DoesNotEndWhileARejectedBlockIsRead) {
  using dataplane::Flow;
  auto first = std::make_unique<ToldReader>(
      std::deque{Flow::kMoved, Flow::kEnd, Flow::kNotNow, Flow::kMoved, Flow::kEnd});
  capture::StreamSource::OpenReader second = [] {
    return std::make_unique<ToldReader>(std::deque{Flow::kMoved, Flow::kEnd});
  };
  capture::StreamSource stream(std::move(first), /*ahead=*/false,
                               [&](const capture::StreamSource::OnOpened& opened) {
                                 opened(std::exchange(second, nullptr));
                               });
  dataplane::Block block;
  ASSERT_EQ(*stream.Pull(&block), Flow::kMoved);
  const dataplane::BlockHeader rejected = block.header();
  ASSERT_EQ(*stream.Pull(&block), Flow::kMoved);
  EXPECT_EQ(block.header().sequence, 1u);
  ASSERT_TRUE(stream.Reject(rejected).ok());
  EXPECT_EQ(*stream.Pull(&block), Flow::kNotNow);
  ASSERT_EQ(*stream.Pull(&block), Flow::kMoved);
  EXPECT_EQ(block.header().sequence, 0u);
  EXPECT_EQ(*stream.Pull(&block), Flow::kEnd);
}

TEST_P(StreamTest, AFollowerCrossesSegmentsAndIsToldWhenItIsOvertaken) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  Push(recorder, 0, 8);
  const services::session::Open follow = {.playhead = {.stream = true, .follow = true}};
  auto player = node_.Play(recorder.admission.accept.recording, follow);
  auto slow = node_.Play(recorder.admission.accept.recording, follow);
  ASSERT_TRUE(player.ok() && slow.ok());
  for (uint64_t i = 8; i < kStreamBlocks; ++i) {
    ASSERT_TRUE(PushOne(recorder, i).ok());
    auto block = node_.Pull(*player->source);
    ASSERT_TRUE(block.ok() && block->has_value()) << block.status();
    EXPECT_EQ((*block)->header().sequence, i - 8);
    EXPECT_EQ((*block)->header().sample_index, (i - 8) * 1000);
    player->source->Acknowledge(i - 7);
  }
  // Not closed: it waits. One that did not keep up has its first segment, and no more.
  absl::Status end;
  uint64_t given = 0;
  for (; end.ok() && given < kStreamBlocks; ++given) {
    auto block = node_.Pull(*slow->source);
    end = block.ok() ? absl::OkStatus() : block.status();
  }
  EXPECT_EQ(given - 1, kSegmentBlocks);
  EXPECT_TRUE(absl::IsDataLoss(end)) << end;
  EXPECT_THAT(std::string(end.message()),
              testing::HasSubstr("deleted before the player reached it"));

  ASSERT_TRUE(recorder.Finish().ok());
  for (uint64_t i = kStreamBlocks - 8; i < kStreamBlocks; ++i) {
    auto block = node_.Pull(*player->source);
    ASSERT_TRUE(block.ok() && block->has_value()) << i;
  }
  const auto none = node_.Pull(*player->source);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE(none->has_value());
}

INSTANTIATE_TEST_SUITE_P(Stores, StreamTest, testing::Values("memory", "posix", "device"), StoreOf);

}  // namespace
}  // namespace tapedeck::storage_node
