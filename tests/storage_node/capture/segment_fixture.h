// A LUN of 256 blocks for sessions in segments, beside the fixture's own.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/now.h"
#include "storage_node/recordings/retention.h"
#include "tests/bytes.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {

inline constexpr uint64_t kLunBlocks = 256;
inline constexpr uint64_t kSegmentBlocks = 16;
inline constexpr char kChannel[] = "luns/ring/channels/c";

class SegmentTest : public testing::TestWithParam<std::string> {
 protected:
  void MakeLun(services::Lun lun) {
    lun.name = "luns/ring";
    lun.store = GetParam();
    if (lun.capacity_bytes == 0) {
      // With the last segment half full the policies of a ring have nothing more to delete.
      lun.capacity_bytes =
          kLunBlocks / kSegmentBlocks * Takes(GetParam(), kSegmentBlocks) + Takes(GetParam(), 1);
    }
    if (lun.store == "device") lun.members = {node_.dir().MakeImage("ring", 1 << 30)};
    if (lun.store == "posix") lun.members = {node_.dir().Make("ring")};
    const auto made = node_.node().luns().CreateLun(lun, "");
    ASSERT_TRUE(made.ok()) << made.status();
    ring_ = lun.full_policy == services::FullPolicy::kRing;
  }
  // A full ring's policies delete once more when the last segment has ended, where a segment is
  // more than the part that they keep free. Waits until they have.
  void AwaitPolicies() {
    EXPECT_TRUE(node_.executor().RunUntil([&] {
      const auto lun = node_.node().luns().GetLun("luns/ring");
      return lun.ok() &&
             lun->used_bytes <= lun->capacity_bytes - lun->capacity_bytes / recordings::kFreePart &&
             node_.node().Waiting().empty();
    }));
  }
  void MakeRing() { MakeLun({.full_policy = services::FullPolicy::kRing}); }

  absl::Status MakeChannel(services::Channel channel) {
    channel.name = kChannel;
    channel.block_bytes = kBlockBytes;
    // On a device a segment would have a unit, 64 blocks.
    if (ring_ && channel.segment_bytes == 0 && GetParam() == "device") {
      channel.segment_bytes = kSegmentBlocks * kBlockBytes;
    }
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
      segments[recording.segment] = recording;
    }
    return segments;
  }

  // Whole segments with these samples are kept, and not many more.
  void KeepsAbout(uint64_t first_sample, uint64_t end_sample) {
    std::vector<uint64_t> kept;
    for (const auto& [number, recording] : Segments()) {
      if (!recording.kept) continue;
      for (const uint64_t block : BlocksOf(recording)) kept.push_back(block);
    }
    ASSERT_FALSE(kept.empty());
    EXPECT_LE(kept.front() * 1000, first_sample);
    EXPECT_GE(kept.back() * 1000 + kBlockBytes / 8, end_sample);
    EXPECT_LE(kept.size(), 60u + 2 * kSegmentBlocks + 8);
    for (size_t i = 1; i < kept.size(); ++i) ASSERT_EQ(kept[i], kept[0] + i);
  }

  // Plays on from where `playhead` says; returns the numbers of the blocks as in the stream, and
  // why it ended.
  std::pair<std::vector<uint64_t>, absl::Status> Stream(const std::string& recording,
                                                        services::model::Playhead playhead = {}) {
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
      EXPECT_TRUE(SameBytes((*block)->payload(), Payload(number, kBlockBytes)));
      blocks.push_back(number);
      player->source->Acknowledge(blocks.size());
    }
  }

  // The node may just be looking whether it can go.
  absl::StatusOr<services::session::Admission> PlayWhenFree(const std::string& recording) {
    const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(10);
    while (true) {
      auto player = node_.Play(recording);
      if (player.ok() || Reason(player.status()) != "RECORDING_BUSY" ||
          dataplane::SteadyTime() > deadline) {
        return player;
      }
      absl::SleepFor(absl::Milliseconds(5));
    }
  }

  // Plays and checks a segment; returns the numbers of the blocks it has, as in the stream.
  std::vector<uint64_t> BlocksOf(const services::Recording& recording) {
    std::vector<uint64_t> blocks;
    auto player = PlayWhenFree(recording.name);
    EXPECT_TRUE(player.ok()) << player.status();
    while (player.ok()) {
      auto block = node_.Pull(*player->source);
      EXPECT_TRUE(block.ok()) << block.status();
      if (!block.ok() || !block->has_value()) break;
      const uint64_t number = (*block)->header().sample_index / 1000;
      if ((*block)->header().flags & dataplane::kBlockMissing) continue;
      EXPECT_TRUE(SameBytes((*block)->payload(), Payload(number, kBlockBytes)));
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
    const auto result = node_.Meanwhile(
        [&] { return node_.node().recorder().TriggerRecording(kChannel, {.label = "seen"}); });
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() && !result->empty() ? result->front() : services::Capture();
  }

  NodeFixture node_;
  bool ring_ = false;
};

inline std::string StoreOf(const testing::TestParamInfo<std::string>& info) {
  return info.param == "memory" ? "Memory" : info.param == "posix" ? "Posix" : "Device";
}

}  // namespace tapedeck::storage_node
