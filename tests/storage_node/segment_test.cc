// Sessions in segments, ring LUNs and what policies delete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <set>

#include "storage_node/node/retention.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::FullPolicy;
using services::StoreKind;

constexpr uint64_t kLunBlocks = 256;
constexpr uint64_t kSegmentBlocks = 16;
constexpr char kChannel[] = "luns/ring/channels/c";

// One LUN of 256 blocks beside the fixture's own.
class SegmentTest : public testing::TestWithParam<StoreKind> {
 protected:
  void MakeLun(services::Lun lun) {
    lun.name = "luns/ring";
    lun.store = GetParam();
    lun.capacity_bytes = kLunBlocks * kBlockBytes;
    if (lun.store == StoreKind::kBlock) lun.members = {node_.dir().MakeImage("ring", 1 << 30)};
    if (lun.store == StoreKind::kPosix) lun.members = {node_.dir().Make("ring")};
    const auto made = node_.node().luns().CreateLun(lun, "");
    ASSERT_TRUE(made.ok()) << made.status();
  }
  void MakeRing() { MakeLun({.full_policy = FullPolicy::kRing}); }

  absl::Status MakeChannel(services::Channel channel) {
    channel.name = kChannel;
    channel.block_bytes = kBlockBytes;
    channel.datatype = "cf32_le";
    // Recorder counts 1000 samples a block: a block is a second.
    channel.sample_rate = 1000;
    return node_.node().channels().CreateChannel(channel, "").status();
  }

  Recorder Start(services::session::Open open = {}) {
    open.channel = kChannel;
    auto recorder = node_.Record(open);
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    return *std::move(recorder);
  }

  // Until it is taken, as a session does.
  absl::Status PushOne(Recorder& recorder, uint64_t sequence) {
    absl::Status status;
    const bool taken = node_.executor().RunUntil([&] {
      status = recorder.Push(sequence);
      return !absl::IsInternal(status);
    });
    return taken ? status : absl::DeadlineExceededError("never taken");
  }
  void Push(Recorder& recorder, uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; ++i) {
      const absl::Status status = PushOne(recorder, i);
      ASSERT_TRUE(status.ok()) << i << ": " << status;
    }
  }

  // By the number of the segment.
  std::map<uint64_t, services::Recording> Segments() {
    std::map<uint64_t, services::Recording> segments;
    const auto listed = node_.node().recordings().ListRecordings(kChannel);
    EXPECT_TRUE(listed.ok()) << listed.status();
    for (const services::Recording& recording : *listed) {
      segments[std::stoull(recording.labels.at("segment"))] = recording;
    }
    return segments;
  }

  // Plays on from where `playhead` says; returns the numbers of the blocks as in the stream, and
  // why it ended.
  std::pair<std::vector<uint64_t>, absl::Status> Stream(const std::string& recording,
                                                        services::session::Playhead playhead = {}) {
    std::vector<uint64_t> blocks;
    playhead.stream = true;
    auto player = node_.Play(recording, {.playhead = playhead});
    if (!player.ok()) return {blocks, player.status()};
    while (true) {
      auto block = node_.Pull(*player->source);
      if (!block.ok()) return {blocks, block.status()};
      if (!block->has_value()) return {blocks, absl::OkStatus()};
      const uint64_t number = (*block)->header().sample_index / 1000;
      EXPECT_EQ((*block)->header().sequence, blocks.size());
      EXPECT_TRUE(std::ranges::equal((*block)->payload(), Payload(number, kBlockBytes)));
      blocks.push_back(number);
      player->source->Acknowledge(blocks.size());
    }
  }

  // Plays and checks a segment; returns the numbers of the blocks it has, as in the stream.
  std::vector<uint64_t> BlocksOf(const services::Recording& recording) {
    std::vector<uint64_t> blocks;
    auto player = node_.Play(recording.name);
    EXPECT_TRUE(player.ok()) << player.status();
    while (player.ok()) {
      auto block = node_.Pull(*player->source);
      EXPECT_TRUE(block.ok()) << block.status();
      if (!block.ok() || !block->has_value()) break;
      const uint64_t number = (*block)->header().sample_index / 1000;
      if ((*block)->header().flags & dataplane::kBlockMissing) continue;
      EXPECT_TRUE(std::ranges::equal((*block)->payload(), Payload(number, kBlockBytes)));
      blocks.push_back(number);
    }
    return blocks;
  }

  std::vector<uint64_t> AllBlocks() {
    std::vector<uint64_t> blocks;
    for (const auto& [number, recording] : Segments()) {
      for (const uint64_t block : BlocksOf(recording)) blocks.push_back(block);
    }
    return blocks;
  }

  services::Capture Fire() {
    auto captures = std::async(std::launch::async, [&] {
      return node_.node().recorder().TriggerRecording(kChannel, {.label = "seen"});
    });
    EXPECT_TRUE(node_.executor().RunUntil(
        [&] { return captures.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    const auto result = captures.get();
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() && !result->empty() ? result->front() : services::Capture();
  }

  NodeFixture node_;
};

TEST_P(SegmentTest, ARingTakesAStreamForEver) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  constexpr uint64_t kBlocks = kLunBlocks * 6 + 5;
  Push(recorder, 0, kBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  EXPECT_EQ(recorder.admission.sink->watermarks().durable, kBlocks);
  recorder.admission.sink = nullptr;

  const std::vector<uint64_t> blocks = AllBlocks();
  // What is there is the end of the stream, without a gap, and most of what fits.
  ASSERT_GT(blocks.size(), kLunBlocks * 3 / 4);
  for (size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_EQ(blocks[i], kBlocks - blocks.size() + i);
  }
  const auto segments = Segments();
  EXPECT_EQ(segments.rbegin()->first, kBlocks / kSegmentBlocks);
  const std::string stream = segments.begin()->second.labels.at("stream");
  for (const auto& [number, recording] : segments) {
    EXPECT_EQ(recording.state, services::RecordingState::kSealed) << number;
    EXPECT_EQ(recording.labels.at("stream"), stream);
    EXPECT_THAT(node_.Verify(recording.name), testing::IsEmpty());
  }
  const auto lun = *node_.node().luns().GetLun("luns/ring");
  EXPECT_EQ(lun.used_bytes, blocks.size() * kBlockBytes);
}

// Blocks of two rails cross the border between two segments.
TEST_P(SegmentTest, BlocksComeInAnyOrder) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  for (uint64_t i = 0; i < 99; i += 3) {
    for (const uint64_t j : {i + 2, i + 1, i}) ASSERT_TRUE(PushOne(recorder, j).ok());
    ASSERT_TRUE(PushOne(recorder, i).ok()) << "twice";
    EXPECT_EQ(recorder.admission.sink->watermarks().received, i + 3);
  }
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  EXPECT_EQ(AllBlocks().size(), 99u);
}

TEST_P(SegmentTest, ATriggerKeepsItsSegments) {
  MakeRing();
  ASSERT_TRUE(
      MakeChannel({.pre_trigger_ns = 40'000'000'000, .post_trigger_ns = 20'000'000'000}).ok());
  auto recorder = Start();
  Push(recorder, 0, 100);
  const auto capture = Fire();
  const uint64_t last = 99 * 1000 + kBlockBytes / 8;  // more samples a block than its step
  EXPECT_EQ(capture.trigger_sample, last - 1);
  EXPECT_EQ(capture.first_sample, last - 1 - 40'000);
  EXPECT_EQ(capture.end_sample, last - 1 + 20'000);
  Push(recorder, 100, 1500);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;

  std::vector<uint64_t> kept;
  for (const auto& [number, recording] : Segments()) {
    if (!recording.kept) continue;
    for (const uint64_t block : BlocksOf(recording)) kept.push_back(block);
  }
  // Whole, and not much more than asked for.
  ASSERT_FALSE(kept.empty());
  EXPECT_LE(kept.front() * 1000, capture.first_sample);
  EXPECT_GE(kept.back() * 1000 + kBlockBytes / 8, capture.end_sample);
  EXPECT_LE(kept.size(), 60u + 2 * kSegmentBlocks + 8);
  for (size_t i = 1; i < kept.size(); ++i) ASSERT_EQ(kept[i], kept[0] + i);
  EXPECT_EQ(node_.Get(capture.recordings.front()).kept, true);
}

TEST_P(SegmentTest, WhenAllIsKeptTheStreamStopsCleanly) {
  MakeRing();
  ASSERT_TRUE(
      MakeChannel({.pre_trigger_ns = 500'000'000'000, .post_trigger_ns = 500'000'000'000}).ok());
  auto recorder = Start();
  Push(recorder, 0, 50);
  Fire();
  absl::Status status;
  uint64_t pushed = 50;
  while (status.ok() && pushed < 2000) {
    status = PushOne(recorder, pushed);
    if (status.ok()) ++pushed;
  }
  EXPECT_EQ(Reason(status), "LUN_FULL") << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("--release"));
  EXPECT_GT(pushed, kLunBlocks - 3 * kSegmentBlocks);
  recorder.Finish(status).IgnoreError();
  const uint64_t acknowledged = recorder.admission.sink->watermarks().durable;
  recorder.admission.sink = nullptr;
  EXPECT_EQ(acknowledged, pushed);
  EXPECT_EQ(AllBlocks().size(), pushed);

  // Released, they give way.
  for (const auto& [number, recording] : Segments()) {
    ASSERT_TRUE(node_.node().recorder().KeepRecording(recording.name, false).ok());
  }
  auto again = Start();
  Push(again, 0, 100);
  EXPECT_TRUE(again.Finish().ok());
}

TEST_P(SegmentTest, ARingKeepsItsPromiseThroughAKill) {
  if (GetParam() == StoreKind::kMemory) GTEST_SKIP() << "memory does not outlive its process";
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  uint64_t acknowledged = 0;
  std::string keep;
  {
    auto recorder = Start();
    keep = recorder.admission.accept.recording;
    Push(recorder, 0, 40);
    // Not while it is being closed.
    ASSERT_TRUE(node_.executor().RunUntil(
        [&] { return node_.node().recorder().KeepRecording(keep, true).ok(); }));
    Push(recorder, 40, 900);
    acknowledged = recorder.admission.sink->watermarks().durable;
  }
  node_.Start();
  EXPECT_TRUE(node_.Get(keep).kept);
  std::vector<uint64_t> blocks = AllBlocks();
  ASSERT_GE(blocks.size(), kSegmentBlocks);
  for (uint64_t i = 0; i < kSegmentBlocks; ++i) EXPECT_EQ(blocks[i], i);
  blocks.erase(blocks.begin(), blocks.begin() + kSegmentBlocks);
  ASSERT_FALSE(blocks.empty());
  // All that was acknowledged; of what was not, anything may be there.
  EXPECT_GE(blocks.back() + 1, acknowledged);
  for (size_t i = 0; blocks[0] + i < acknowledged; ++i) ASSERT_EQ(blocks[i], blocks[0] + i);
}

TEST_P(SegmentTest, OldRecordingsGoUnlessTheyAreKeptOrPlayed) {
  MakeLun({.max_age_ns = 1'000'000'000});
  ASSERT_TRUE(MakeChannel({}).ok());
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) {
    auto recorder = Start();
    Push(recorder, 0, 3);
    ASSERT_TRUE(recorder.Finish().ok());
    names.push_back(recorder.admission.accept.recording);
  }
  ASSERT_TRUE(node_.node().recorder().KeepRecording(names[0], true).ok());
  auto player = node_.Play(names[1]);
  ASSERT_TRUE(player.ok());
  const auto left = [&] { return node_.node().recordings().ListRecordings(kChannel)->size(); };
  // By the clock of the node, on its own thread.
  EXPECT_TRUE(node_.executor().RunUntil([&] { return left() == 2; }));
  EXPECT_FALSE(node_.node().recordings().GetRecording(names[2]).ok());
  player->source = nullptr;
  EXPECT_TRUE(node_.executor().RunUntil([&] { return left() == 1; }));
  EXPECT_TRUE(node_.Get(names[0]).kept);
}

TEST_P(SegmentTest, TheOldestGoWhenTheLunFillsUp) {
  MakeLun({.max_fill_percent = 50});
  ASSERT_TRUE(MakeChannel({}).ok());
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i) {
    auto recorder = Start();
    Push(recorder, 0, 60);
    ASSERT_TRUE(recorder.Finish().ok());
    names.push_back(recorder.admission.accept.recording);
  }
  EXPECT_TRUE(node_.executor().RunUntil(
      [&] { return node_.node().recordings().ListRecordings(kChannel)->size() == 2; }));
  EXPECT_EQ(node_.Get(names[3]).blocks, 60u);
  EXPECT_EQ(node_.Get(names[2]).blocks, 60u);
}

TEST_P(SegmentTest, AStreamOfKnownLengthHasItsRoom) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start({.expected_blocks = 200});
  const auto second = node_.Record({.channel = kChannel, .expected_blocks = 100});
  EXPECT_EQ(Reason(second.status()), "LUN_FULL") << second.status();
  Push(recorder, 0, 200);
  EXPECT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  EXPECT_EQ(AllBlocks().size(), 200u);
  EXPECT_EQ(Segments().size(), 13u);
}

TEST_P(SegmentTest, APlaybackGoesOnWithTheNextSegment) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  Push(recorder, 0, 1000);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  const auto segments = Segments();
  const uint64_t oldest = segments.begin()->first * kSegmentBlocks;
  const auto [all, end] = Stream(segments.begin()->second.name);
  EXPECT_TRUE(end.ok()) << end;
  ASSERT_EQ(all.size(), 1000 - oldest);
  EXPECT_EQ(all.front(), oldest);
  EXPECT_EQ(all.back(), 999u);

  // A sample may lie in any segment, whichever is named.
  using Unit = services::session::Playhead::Unit;
  for (const uint64_t from :
       {oldest, oldest + 1, oldest + kSegmentBlocks - 1, uint64_t{900}, uint64_t{999}}) {
    const auto start = static_cast<int64_t>(from * 1000 + 500);
    const auto [blocks, status] =
        Stream(segments.rbegin()->second.name, {.unit = Unit::kSample, .start = start});
    EXPECT_TRUE(status.ok()) << status;
    ASSERT_EQ(blocks.size(), 1000 - from);
    EXPECT_EQ(blocks.front(), from);
  }
  const auto [early, status] =
      Stream(segments.rbegin()->second.name, {.unit = Unit::kSample, .start = 1});
  EXPECT_EQ(early.size(), all.size());
}

TEST_P(SegmentTest, ABlockIsGivenAgainAfterItsSegmentHasEnded) {
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

TEST_P(SegmentTest, AFollowerCrossesSegmentsAndIsToldWhenItIsOvertaken) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  Push(recorder, 0, 8);
  const services::session::Open follow = {.playhead = {.stream = true, .follow = true}};
  auto player = node_.Play(recorder.admission.accept.recording, follow);
  auto slow = node_.Play(recorder.admission.accept.recording, follow);
  ASSERT_TRUE(player.ok() && slow.ok());
  for (uint64_t i = 8; i < 1000; ++i) {
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
  for (; end.ok() && given < 1000; ++given) {
    auto block = node_.Pull(*slow->source);
    end = block.ok() ? absl::OkStatus() : block.status();
  }
  EXPECT_EQ(given - 1, kSegmentBlocks);
  EXPECT_TRUE(absl::IsDataLoss(end)) << end;
  EXPECT_THAT(std::string(end.message()), testing::HasSubstr("deleted before it was reached"));

  ASSERT_TRUE(recorder.Finish().ok());
  for (uint64_t i = 992; i < 1000; ++i) {
    auto block = node_.Pull(*player->source);
    ASSERT_TRUE(block.ok() && block->has_value()) << i;
  }
  const auto none = node_.Pull(*player->source);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE(none->has_value());
}

TEST_P(SegmentTest, RefusesWhatCannotWork) {
  MakeRing();
  EXPECT_EQ(Reason(MakeChannel({.segment_bytes = kLunBlocks / 2 * kBlockBytes})),
            "ARGUMENT_INVALID");
  services::Lun lun{.name = "luns/x", .store = StoreKind::kPosix, .full_policy = FullPolicy::kRing};
  lun.members = {node_.dir().Make("x")};
  EXPECT_EQ(Reason(node_.node().luns().CreateLun(lun, "").status()), "ARGUMENT_INVALID");
  lun.capacity_bytes = 1 << 30;
  EXPECT_TRUE(node_.node().luns().CreateLun(lun, "").ok()) << "nothing was left behind";
}

INSTANTIATE_TEST_SUITE_P(Stores, SegmentTest,
                         testing::Values(StoreKind::kMemory, StoreKind::kPosix, StoreKind::kBlock),
                         [](const auto& info) {
                           return info.param == StoreKind::kMemory  ? "Memory"
                                  : info.param == StoreKind::kPosix ? "Posix"
                                                                    : "Block";
                         });

}  // namespace
}  // namespace tapedeck::storage_node
