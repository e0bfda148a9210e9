// The whole path on one thread and virtual time: a session records into a memory LUN through the
// storage node's own writer, another plays it back through its reader, both while rails fail. The
// same seed gives the same event log.

#include <gtest/gtest.h>

#include "storage_node/node/node.h"
#include "tests/sim/ends.h"
#include "tests/sim/seeds.h"
#include "tests/sim/simulated_session.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::sim {
namespace {

using services::session::Direction;
using services::session::TransferOp;

constexpr uint64_t kRecordedBlocks = 60;
constexpr uint64_t kRecordedBlockBytes = 64 << 10;
constexpr char kChannel[] = "luns/sim/channels/c";

class RecordingSim : public testing::TestWithParam<std::pair<TransferOp, TransferOp>> {
 protected:
  RecordingSim()
      : node_(*storage_node::node::StorageNode::Create(
            {.state_dir = state_.path(), .no_queues = true})) {
    EXPECT_TRUE(
        node_->luns()
            .CreateLun({.name = "luns/sim", .store = "memory", .capacity_bytes = 64 << 20}, "")
            .ok());
    EXPECT_TRUE(
        node_->channels()
            .CreateChannel(
                {.name = kChannel, .block_bytes = kRecordedBlockBytes, .datatype = "cf32_le"}, "")
            .ok());
  }

  static Scenario MakeScenario(uint64_t seed) {
    return {.seed = seed,
            .blocks = kRecordedBlocks,
            .block_bytes = kRecordedBlockBytes,
            .faults = true};
  }

  // Records, plays back and deletes; returns the fingerprints of both runs.
  std::pair<uint64_t, uint64_t> RunSeed(uint64_t seed) {
    Scenario record = MakeScenario(seed);
    record.open.direction = Direction::kRecord;
    record.open.channel = kChannel;
    record.open.op = GetParam().first;
    SimulatedSession recording(record, node_->sessions());
    EXPECT_TRUE(recording.Execute()) << "recording hangs";
    EXPECT_TRUE(recording.result().error.ok()) << recording.result().error;
    EXPECT_EQ(recording.result().lost_blocks, 0u);
    const std::string name = recording.result().accept.recording;
    const auto stored = node_->recordings().GetRecording(name);
    EXPECT_TRUE(stored.ok()) << stored.status();
    if (!stored.ok()) return {};
    EXPECT_EQ(stored->state, services::RecordingState::kSealed);
    EXPECT_EQ(stored->blocks, kRecordedBlocks);
    EXPECT_EQ(stored->missing_blocks, 0u);

    Scenario play = MakeScenario(seed);
    play.open.direction = Direction::kPlayback;
    play.open.recording = name;
    play.open.op = GetParam().second;
    SimulatedSession playback(play, node_->sessions());
    EXPECT_TRUE(playback.Execute()) << "playback hangs";
    EXPECT_TRUE(playback.result().error.ok()) << playback.result().error;
    EXPECT_EQ(playback.delivered(), kRecordedBlocks);
    const absl::Status deleted = node_->recordings().DeleteRecording(name);
    EXPECT_TRUE(deleted.ok()) << deleted;
    return {recording.world().fingerprint(), playback.world().fingerprint()};
  }

  storage_node::TempDir state_;
  std::unique_ptr<storage_node::node::StorageNode> node_;
};

TEST_P(RecordingSim, LosesNothingUnderFaults) {
  for (const uint64_t seed : FaultSeeds(200)) {
    SCOPED_TRACE(HowToRepeat(seed));
    RunSeed(seed);
    if (HasFailure()) return;
  }
}

TEST_P(RecordingSim, RepeatsExactly) {
  for (const uint64_t seed : FaultSeeds(10)) {
    EXPECT_EQ(RunSeed(seed), RunSeed(seed)) << HowToRepeat(seed);
  }
}

// Record with one op, play with another: the defaults, the seed document's, and the rest.
INSTANTIATE_TEST_SUITE_P(Ops, RecordingSim,
                         testing::Values(std::pair(TransferOp::kRead, TransferOp::kWrite),
                                         std::pair(TransferOp::kSend, TransferOp::kRead),
                                         std::pair(TransferOp::kWrite, TransferOp::kSend)));

}  // namespace
}  // namespace tapedeck::sim
