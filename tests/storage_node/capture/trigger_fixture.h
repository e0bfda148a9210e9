// A channel that waits for triggers in memory, and what a test pushes into it.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/bytes.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {

// cf32_le: 8192 samples a block of 64 KiB. At this rate a block is a second.
inline constexpr uint64_t kSamples = kBlockBytes / 8;
// 2020-01-01T00:00:00Z: when the stream's first sample was taken.
inline constexpr int64_t kBeginNs = 1'577'836'800'000'000'000;
inline constexpr char kTriggered[] = "luns/l/channels/t";

class TriggerTest : public testing::Test {
 protected:
  // 3 s before, 2 s after.
  TriggerTest() {
    const auto channel =
        node_.node().channels().CreateChannel({.name = kTriggered,
                                               .block_bytes = kBlockBytes,
                                               .datatype = "cf32_le",
                                               .sample_rate = kSamples,
                                               .commit = dataplane::CommitLevel::kReceived,
                                               .pre_trigger_ns = 3'000'000'000,
                                               .post_trigger_ns = 2'000'000'000},
                                              "");
    EXPECT_TRUE(channel.ok()) << channel.status();
  }

  void Push(Recorder& recorder, uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; ++i) ASSERT_TRUE(PushOne(recorder, i).ok()) << i;
  }

  // As Recorder::Push, with the sample indexes of a real stream, and once the sink takes it.
  absl::Status PushOne(Recorder& recorder, uint64_t sequence,
                       std::optional<dataplane::Triggers> triggers = std::nullopt) {
    std::optional<dataplane::Block> block;
    EXPECT_TRUE(node_.executor().RunUntil([&] {
      block = recorder.admission.ring->Take();
      return block.has_value();
    }));
    const auto payload = Payload(sequence, kBlockBytes);
    PutBytes(payload, block->memory());
    block->header() = {.sequence = sequence,
                       .sample_index = sequence * kSamples,
                       .capture_ns = kBeginNs + static_cast<int64_t>(sequence) * 1'000'000'000,
                       .payload_bytes = kBlockBytes,
                       .crc32c = dataplane::Crc32c(payload)};
    if (triggers.has_value()) {
      block->header().flags = dataplane::kBlockTriggered;
      block->header().triggers = *triggers;
    }
    absl::StatusOr<dataplane::Flow> flow = dataplane::Flow::kNotNow;
    EXPECT_TRUE(node_.executor().RunUntil([&] {
      flow = recorder.admission.sink->Push(&*block);
      return !flow.ok() || *flow == dataplane::Flow::kMoved;
    }));
    return flow.status();
  }

  services::Capture Fire(services::Trigger trigger = {}) {
    const auto result = node_.Meanwhile(
        [&] { return node_.node().recorder().TriggerRecording(kTriggered, trigger); });
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok() || result->size() != 1) return {};
    return result->front();
  }

  services::Recording Closed(const std::string& name) {
    services::Recording recording;
    EXPECT_TRUE(node_.executor().RunUntil([&] {
      recording = node_.Get(name);
      return recording.state != services::RecordingState::kRecording;
    }));
    return recording;
  }

  // Those that the session says it has made, once there are so many.
  std::vector<std::string> AwaitCaptures(Recorder& recorder, size_t count) {
    std::vector<std::string> made;
    EXPECT_TRUE(node_.executor().RunUntil([&] {
      made = recorder.admission.captures();
      return made.size() >= count;
    }));
    made.resize(count);
    return made;
  }

  // The samples that a closed capture has marks of.
  std::vector<uint64_t> MarksOf(const std::string& name) {
    std::vector<uint64_t> samples;
    for (const auto& one : Closed(name).annotations) samples.push_back(one.sample_start);
    return samples;
  }

  // The first sample of each block.
  std::vector<uint64_t> BlocksOf(const std::string& name) {
    std::vector<uint64_t> blocks;
    auto player = node_.Play(name);
    EXPECT_TRUE(player.ok()) << player.status();
    while (player.ok()) {
      auto block = node_.Pull(*player->source);
      if (!block.ok() || !block->has_value()) break;
      const uint64_t number = (*block)->header().sample_index / kSamples;
      EXPECT_EQ((*block)->header().sequence, blocks.size());
      EXPECT_TRUE(SameBytes((*block)->payload(), Payload(number, kBlockBytes)));
      blocks.push_back(number);
    }
    return blocks;
  }

  NodeFixture node_;
};

}  // namespace tapedeck::storage_node
