// Every operation on the disk fails once, and fails from then on: while recording, sealing,
// recovering, playing and deleting. Nothing hangs, the error says what failed where, and everything
// acknowledged as durable is there after the power has been cut as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/crc/crc32c.h"
#include "services/base/errors.h"
#include "storage_node/recording/reading/recording_reader.h"
#include "storage_node/recording/recovery/recovery.h"
#include "storage_node/recording/writing/recording_writer.h"
#include "tests/bytes.h"
#include "tests/faults/fail_at.h"
#include "tests/faults/recorded.h"
#include "tests/sim/disks/fault_store.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::faults {
namespace {

using namespace storage_node;  // NOLINT: the names under test

constexpr uint64_t kWrittenBlocks = 12;
constexpr uint8_t kEarlier = 1, kTried = 2;
const store::RecordingPath kPath{.channel = "c", .recording = "2"};

struct Outcome {
  absl::Status status;  // of the session
  uint64_t durable = 0;
  bool faulted = false;
};

class EachIo : public testing::TestWithParam<Failure> {
 protected:
  EachIo() { earlier_ = Record(disk_, kEarlier, 4); }

  // Records as a session does: pushes until an error, finishes with it.
  Outcome RecordTried();
  // What is there now, with a sound disk: everything durable, nothing wrong.
  void ExpectKept(uint64_t durable);

  static void ExpectNamed(const absl::Status& status) {
    const auto reason = services::ReasonOf(status);
    ASSERT_TRUE(reason.has_value()) << status;
    EXPECT_TRUE(reason->reason == "STORE_IO" || reason->reason == "LUN_FULL") << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("member ")) << status;
  }

  sim::FaultDisk disk_;
  format::Manifest earlier_;
};

Outcome EachIo::RecordTried() {
  Outcome outcome;
  ManualExecutor executor(absl::ZeroDuration());
  const auto store = sim::MakeFaultStore(disk_, 1);
  const auto ring = *store->MakeRing({.slots = 4, .slot_bytes = kBlockBytes});
  format::Manifest manifest{.id = "2", .block_bytes = kBlockBytes, .datatype = "cu8"};
  manifest.identity = {.channel = "c", .epoch = 1000u + kTried};
  manifest.identity.recording.bytes[0] = std::byte{kTried};
  recording::RecordingWriter writer({.name = "2",
                                     .manifest = manifest,
                                     .ring_slots = 4,
                                     .capacity = std::make_shared<recording::Capacity>(0),
                                     .live = std::make_shared<recording::LiveRecording>()},
                                    *store->Open(kPath, store::ToCreate(kBlockBytes), executor),
                                    executor);
  uint64_t next = 0;
  const bool ended = executor.RunUntil([&] {
    outcome.durable = std::max(outcome.durable, writer.watermarks().durable);
    outcome.status.Update(writer.status());
    if (!outcome.status.ok() || next == kWrittenBlocks) {
      const auto flow = writer.Finish(outcome.status);
      outcome.status.Update(flow.status());
      return !flow.ok() || *flow == dataplane::Flow::kEnd;
    }
    auto block = ring->Take();
    if (!block.has_value()) return false;
    PutBytes(PayloadOf(kTried, next), block->memory());
    block->header() = {.sequence = next++, .payload_bytes = kBlockBytes};
    block->header().crc32c = dataplane::Crc32c(block->payload());
    outcome.status.Update(writer.Push(&*block).status());
    return false;
  });
  EXPECT_TRUE(ended) << "recording hangs";
  outcome.durable = std::max(outcome.durable, writer.watermarks().durable);
  return outcome;
}

void EachIo::ExpectKept(uint64_t durable) {
  const ManualClock clock;
  const auto store = sim::MakeFaultStore(disk_, 1);
  auto manifest = recording::LoadManifest(*store, kPath, clock);
  if (!manifest.ok()) {
    EXPECT_TRUE(absl::IsNotFound(manifest.status())) << manifest.status();
    EXPECT_EQ(durable, 0u);
    return;
  }
  if (manifest->state == services::RecordingState::kRecording) {
    manifest = recording::SalvageRecording(*store, kPath, *manifest, "test", clock);
    ASSERT_TRUE(manifest.ok()) << manifest.status();
  }
  const std::set<uint64_t> good = Play(disk_, *manifest);
  for (uint64_t i = 0; i < durable; ++i) EXPECT_TRUE(good.contains(i)) << "lost block " << i;
  EXPECT_EQ(good.size() + manifest->missing_blocks(), manifest->blocks);
  EXPECT_EQ(Play(disk_, earlier_).size(), 4u) << "an earlier recording suffered";
}

// One more operation each time, until the fault comes too late to meet any.
TEST_P(EachIo, WhileRecordingAndSealing) {
  const sim::FaultDisk before = disk_;
  uint64_t failed = 0;
  for (uint64_t n = 1;; ++n) {
    disk_ = before;
    FailAt(disk_, n, GetParam());
    const Outcome outcome = RecordTried();
    const bool met = disk_.operations >= before.operations + n;
    disk_.fault = nullptr;
    if (!outcome.status.ok()) {
      ++failed;
      ExpectNamed(outcome.status);
    } else {
      EXPECT_EQ(outcome.durable, kWrittenBlocks) << "no error, and not all there";
    }
    ExpectKept(outcome.durable);
    const sim::FaultDisk now = disk_;
    disk_.CutPower(n);
    ExpectKept(outcome.durable);
    ASSERT_FALSE(HasFailure()) << "operation " << n;
    if (!met) break;
  }
  EXPECT_GT(failed, 5u);
}

TEST_P(EachIo, WhileRecovering) {
  uint64_t durable = 0;
  const sim::FaultDisk sound = disk_;
  for (uint64_t n = 10; durable < 4; ++n) {
    disk_ = sound;
    FailAt(disk_, n, Failure::kErrorForEver);
    durable = RecordTried().durable;
    disk_.fault = nullptr;
  }
  const sim::FaultDisk before = disk_;
  const ManualClock clock;
  for (uint64_t n = 1;; ++n) {
    disk_ = before;
    const auto store = sim::MakeFaultStore(disk_, 1);
    const auto manifest = recording::LoadManifest(*store, kPath, clock);
    ASSERT_TRUE(manifest.ok());
    ASSERT_EQ(manifest->state, services::RecordingState::kRecording);
    const uint64_t begun = disk_.operations;
    FailAt(disk_, n, GetParam());
    const auto salvaged = recording::SalvageRecording(*store, kPath, *manifest, "test", clock);
    const bool met = disk_.operations >= begun + n;
    disk_.fault = nullptr;
    if (!salvaged.ok()) ExpectNamed(salvaged.status());
    disk_.CutPower(n);
    ExpectKept(durable);
    ASSERT_FALSE(HasFailure()) << "operation " << n;
    if (!met) break;
  }
}

// What cannot be read is given as missing, the rest plays.
TEST_P(EachIo, WhilePlaying) {
  RecordTried();
  const ManualClock clock;
  const auto manifest = recording::LoadManifest(*sim::MakeFaultStore(disk_, 1), kPath, clock);
  ASSERT_TRUE(manifest.ok());
  for (uint64_t n = 1;; ++n) {
    const uint64_t begun = disk_.operations;
    FailAt(disk_, n, GetParam());
    const std::set<uint64_t> good = Play(disk_, *manifest);
    const bool met = disk_.operations >= begun + n;
    disk_.fault = nullptr;
    if (GetParam() == Failure::kErrorOnce && n > 2) {
      EXPECT_EQ(good.size(), kWrittenBlocks) << n;
    }
    ASSERT_FALSE(HasFailure()) << "operation " << n;
    if (!met) break;
  }
  EXPECT_EQ(Play(disk_, *manifest).size(), kWrittenBlocks);
}

TEST_P(EachIo, WhileDeleting) {
  RecordTried();
  const auto store = sim::MakeFaultStore(disk_, 1);
  FailAt(disk_, 1, GetParam());
  const absl::Status status = store->DeleteRecording(kPath);
  disk_.fault = nullptr;
  if (!status.ok()) {
    ExpectNamed(status);
    ExpectKept(kWrittenBlocks);
    EXPECT_TRUE(store->DeleteRecording(kPath).ok());
  }
  EXPECT_EQ(store->ListRecordings({})->size(), 1u);
  EXPECT_EQ(Play(disk_, earlier_).size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachIo,
                         testing::Values(Failure::kErrorOnce, Failure::kErrorForEver,
                                         Failure::kFullOnce, Failure::kFullForEver));

}  // namespace
}  // namespace tapedeck::faults
