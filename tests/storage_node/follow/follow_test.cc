// Playing a recording while it is written, and playing from any point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage_node/store/list.h"
#include "tests/bytes.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using dataplane::Flow;
using services::model::Playhead;
using services::session::Open;

Open From(Playhead playhead) { return {.playhead = playhead}; }

class Follow : public testing::TestWithParam<std::string> {
 protected:
  // The next block of a follower, which must come.
  uint64_t Next(services::session::Admission& player) {
    auto block = node_.Pull(*player.source);
    EXPECT_TRUE(block.ok()) << block.status();
    if (!block.ok() || !block->has_value()) return UINT64_MAX;
    const auto& header = (*block)->header();
    EXPECT_EQ(header.flags & dataplane::kBlockMissing, 0u);
    const uint64_t sequence = header.sample_index / 1000;  // as Recorder::Push numbers them
    EXPECT_TRUE(SameBytes((*block)->payload(), Payload(sequence, kBlockBytes)));
    return sequence;
  }

  bool NothingYet(services::session::Admission& player) {
    node_.executor().RunReady();
    dataplane::Block block;
    const auto flow = player.source->Pull(&block);
    return flow.ok() && *flow == Flow::kNotNow;
  }

  void PushDurably(Recorder& recorder, uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; ++i) ASSERT_TRUE(recorder.Push(i).ok());
    ASSERT_TRUE(node_.executor().RunUntil(
        [&] { return recorder.admission.sink->watermarks().durable == end; }));
  }

  NodeFixture node_{GetParam()};
};

TEST_P(Follow, GivesWhatIsWrittenUntilTheRecordingIsClosed) {
  auto recorder = *node_.Record();
  const std::string name = recorder.admission.accept.recording;
  PushDurably(recorder, 0, 300);
  auto player = node_.Play(name, From({.follow = true}));
  ASSERT_TRUE(player.ok()) << player.status();
  EXPECT_EQ(player->accept.blocks, 0u);
  for (uint64_t i = 0; i < 300; ++i) ASSERT_EQ(Next(*player), i);
  EXPECT_TRUE(NothingYet(*player));
  for (uint64_t i = 300; i < 310; ++i) {
    PushDurably(recorder, i, i + 1);
    ASSERT_EQ(Next(*player), i);
  }
  EXPECT_TRUE(NothingYet(*player));
  ASSERT_TRUE(recorder.Push(310).ok());
  ASSERT_TRUE(recorder.Finish().ok());
  EXPECT_EQ(Next(*player), 310u);
  const auto end = node_.Pull(*player->source);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_FALSE(end->has_value());
}

TEST_P(Follow, BeginsWhereItIsTold) {
  auto recorder = *node_.Record();
  const std::string name = recorder.admission.accept.recording;
  PushDurably(recorder, 0, 20);
  auto late =
      node_.Play(name, From({.unit = Playhead::Unit::kSample, .start = 12'500, .follow = true}));
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_EQ(late->accept.first_block, 12u);
  EXPECT_EQ(Next(*late), 12u);
  auto live = node_.Play(name, From({.start = 1'000'000, .follow = true}));
  ASSERT_TRUE(live.ok()) << live.status();
  EXPECT_EQ(live->accept.first_block, 20u);
  EXPECT_TRUE(NothingYet(*live));
  PushDurably(recorder, 20, 21);
  EXPECT_EQ(Next(*live), 20u);
}

TEST_P(Follow, AFollowerKeepsTheRecordingFromBeingDeleted) {
  auto recorder = std::make_optional(*node_.Record());
  const std::string name = recorder->admission.accept.recording;
  PushDurably(*recorder, 0, 3);
  auto player = std::make_optional(*node_.Play(name, From({.follow = true})));
  ASSERT_TRUE(recorder->Finish().ok());
  recorder = std::nullopt;
  EXPECT_EQ(Reason(node_.node().recordings().DeleteRecording(name)), "RECORDING_BUSY");
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(Next(*player), i);
  player = std::nullopt;
  EXPECT_TRUE(node_.node().recordings().DeleteRecording(name).ok());
}

TEST_P(Follow, WithoutTheFlagARunningRecordingIsBusy) {
  auto recorder = *node_.Record();
  PushDurably(recorder, 0, 1);
  const auto player = node_.Play(recorder.admission.accept.recording);
  EXPECT_EQ(Reason(player.status()), "RECORDING_BUSY");
  EXPECT_THAT(std::string(player.status().message()), testing::HasSubstr("--follow"));
}

TEST_P(Follow, AWriterThatVanishesEndsItsFollowers) {
  auto recorder = std::make_optional(*node_.Record());
  const std::string name = recorder->admission.accept.recording;
  PushDurably(*recorder, 0, 4);
  auto player = *node_.Play(name, From({.follow = true}));
  recorder = std::nullopt;
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(Next(player), i);
  const auto end = node_.Pull(*player.source);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_FALSE(end->has_value());
}

// Recorder::Push says that block i was captured 5 i ns after the epoch: long ago.
TEST_P(Follow, BehindHoldsBlocksBackByTheirCaptureTime) {
  const std::string name = node_.RecordAndSeal(3);
  const int64_t now_ns = node_.executor().clock().WallNs();
  auto player = *node_.Play(name, From({.behind_ns = now_ns + 1'000'000}));
  EXPECT_TRUE(NothingYet(player));
  EXPECT_EQ(Next(player), 0u);
  EXPECT_GE(node_.executor().clock().WallNs(), now_ns + 1'000'000);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Follow, testing::Values("posix", "direct", "memory"));

class Seek : public testing::Test {
 protected:
  // The first block of a playback that begins there.
  uint64_t FirstOf(Playhead playhead) {
    const auto player = node_.Play(name_, From(playhead));
    EXPECT_TRUE(player.ok()) << player.status();
    if (!player.ok()) return UINT64_MAX;
    EXPECT_EQ(player->accept.first_block + player->accept.blocks, 1000u);
    return player->accept.first_block;
  }

  NodeFixture node_{"posix", 1, 128 << 20};
  const std::string name_ = node_.RecordAndSeal(1000);
};

TEST_F(Seek, FindsEveryBlockByNumberSampleAndTime) {
  for (int64_t i = 0; i < 1000; i += 37) {
    EXPECT_EQ(FirstOf({.start = i}), i);
    EXPECT_EQ(FirstOf({.unit = Playhead::Unit::kSample, .start = i * 1000}), i);
    EXPECT_EQ(FirstOf({.unit = Playhead::Unit::kSample, .start = i * 1000 + 999}), i);
    // The start is 0, and each sample lasts 1 ns; the stamps of later blocks do not count.
    constexpr int64_t kSamples = kBlockBytes / 8;  // of cf32_le
    const int64_t begin = i * kSamples;
    EXPECT_EQ(FirstOf({.unit = Playhead::Unit::kTime, .start = begin}), i);
    EXPECT_EQ(FirstOf({.unit = Playhead::Unit::kTime, .start = begin + kSamples - 1}), i);
  }
}

TEST_F(Seek, GivesTheRestRenumberedFromZero) {
  const auto headers = node_.PlayAll(name_, 1, From({.start = 0}));
  EXPECT_EQ(headers.size(), 1000u);
  auto player = *node_.Play(name_, From({.start = 990}));
  for (uint64_t i = 0; i < 10; ++i) {
    const auto block = node_.Pull(*player.source);
    ASSERT_TRUE(block.ok() && block->has_value());
    EXPECT_EQ((*block)->header().sequence, i);
    EXPECT_EQ((*block)->header().sample_index, (990 + i) * 1000);
  }
  EXPECT_FALSE((*node_.Pull(*player.source)).has_value());
}

TEST_F(Seek, BeyondTheEndIsRefused) {
  EXPECT_EQ(Reason(node_.Play(name_, From({.start = 1000})).status()), "ARGUMENT_INVALID");
  constexpr int64_t kSamples = kBlockBytes / 8;
  for (const int64_t start : {1000 * kSamples, INT64_MAX}) {
    const Playhead beyond{.unit = Playhead::Unit::kTime, .start = start};
    const absl::Status refused = node_.Play(name_, From(beyond)).status();
    EXPECT_EQ(Reason(refused), "ARGUMENT_INVALID") << refused;
    EXPECT_THAT(refused.message(), testing::HasSubstr("ends before that time"));
  }
  EXPECT_EQ(FirstOf({.unit = Playhead::Unit::kTime, .start = -1}), 0) << "before the start";
}

TEST_F(Seek, ATimeNeedsAStartAndARate) {
  const auto refusal = [&](const std::string& recording) {
    const Playhead at{.unit = Playhead::Unit::kTime, .start = 5};
    const absl::Status refused = node_.Play(recording, From(at)).status();
    EXPECT_EQ(Reason(refused), "ARGUMENT_INVALID") << refused;
    return std::string(refused.message());
  };
  services::Channel channel = node_.node().channels().ListChannels("luns/l")->front();
  channel.name = "luns/l/channels/rateless";
  channel.sample_rate = 0;
  ASSERT_TRUE(node_.node().channels().CreateChannel(channel, "").ok());
  auto recorder = *node_.Record({.channel = channel.name});
  ASSERT_TRUE(recorder.Push(0).ok());
  ASSERT_TRUE(recorder.Finish().ok());
  EXPECT_THAT(refusal(recorder.admission.accept.recording), testing::HasSubstr("no sample rate"));
  channel.name = "luns/l/channels/undated";
  channel.sample_rate = 1e6;
  ASSERT_TRUE(node_.node().channels().CreateChannel(channel, "").ok());
  auto undated = *node_.Record({.channel = channel.name});
  auto block = undated.admission.ring->Take();
  const auto payload = Payload(0, kBlockBytes);
  PutBytes(payload, block->memory());
  block->header() = {.capture_ns = dataplane::kTimeUnknown,
                     .payload_bytes = kBlockBytes,
                     .crc32c = dataplane::Crc32c(payload)};
  ASSERT_TRUE(undated.admission.sink->Push(&*block).ok());
  ASSERT_TRUE(undated.Finish().ok());
  EXPECT_THAT(refusal(undated.admission.accept.recording), testing::HasSubstr("no known start"));
}

}  // namespace
}  // namespace tapedeck::storage_node
