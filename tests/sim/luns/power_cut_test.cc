// The power is cut at any operation of recording, sealing and recovery; what was acknowledged as
// durable is there, and nothing else is ever given as good.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "dataplane/crc/crc32c.h"
#include "storage_node/recording/recovery/recovery.h"
#include "storage_node/recording/writing/recording_writer.h"
#include "storage_node/repair/verify.h"
#include "tests/bytes.h"
#include "tests/sim/disks/crash_states.h"
#include "tests/sim/disks/fault_store.h"
#include "tests/sim/luns/playing.h"
#include "tests/sim/seeds.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::sim {
namespace {

using namespace storage_node;  // NOLINT: the names under test

constexpr uint64_t kCutBlockBytes = 2048;
constexpr uint64_t kEndingsPerCut = 4;
constexpr uint64_t kSeeds = 2'500;
constexpr uint64_t kDistinctStates = 5'500;  // of these seeds, at least
const store::RecordingPath kPath{.channel = "c", .recording = "r"};

std::byte ByteOf(uint64_t sequence) { return static_cast<std::byte>(sequence * 37 + 11); }

format::Manifest Fresh(uint64_t seed, uint32_t members) {
  format::Manifest manifest{
      .id = "r", .members = members, .block_bytes = kCutBlockBytes, .datatype = "cu8"};
  manifest.identity.channel = "c";
  manifest.identity.epoch = static_cast<uint32_t>(seed);
  manifest.identity.recording.bytes[0] = std::byte{1};
  return manifest;
}

// The index of an earlier recording in the same sectors, some of whose blocks were missing.
Bytes StaleIndex(uint32_t epoch) {
  const auto entries = format::EntryFormat::Of(kCutBlockBytes, epoch);
  Bytes bytes(entries.Offset(32));
  for (uint64_t i = 0; i < 32; ++i) {
    const format::IndexEntry entry{
        .sequence = i, .payload_bytes = i % 3 == 0 ? 0 : static_cast<uint32_t>(kCutBlockBytes)};
    entries.Encode(entry, 0, std::span(bytes).subspan(entries.Offset(i), entries.entry_bytes));
  }
  return bytes;
}

// Runs the writer until the power goes or the recording is sealed; returns what it acknowledged.
uint64_t Record(FaultDisk& disk, uint64_t seed, uint32_t members, uint64_t* pushed) {
  std::mt19937_64 random(seed);
  ManualExecutor executor(absl::ZeroDuration());
  auto store = MakeFaultStore(disk, members);
  auto ring = *store->MakeRing({.slots = 8, .slot_bytes = kCutBlockBytes});
  auto files = *store->Open(kPath, store::ToCreate(kCutBlockBytes), executor);
  bool sealed = false;
  uint64_t acknowledged = 0;
  const uint64_t blocks = 1 + random() % 24;
  disk.operations_left = random() % (12 + 4 * blocks);
  recording::RecordingWriter writer(
      {.name = "r",
       .manifest = Fresh(seed, members),
       .ring_slots = 8,
       .capacity = std::make_shared<recording::Capacity>(0),
       .live = std::make_shared<recording::LiveRecording>(),
       .on_sealed =
           [&](const format::Manifest&, const std::function<void()>& done) {
             sealed = true;
             done();
           }},
      std::move(files), executor);
  executor.RunUntil([&] {
    acknowledged = std::max(acknowledged, writer.watermarks().durable);
    if (*pushed < blocks) {
      if (auto block = ring->Take(); block.has_value()) {
        std::memset(block->memory().data(), static_cast<int>(ByteOf(*pushed)), kCutBlockBytes);
        block->header() = {.sequence = *pushed, .payload_bytes = kCutBlockBytes};
        block->header().crc32c = dataplane::Crc32c(block->payload());
        if (writer.Push(&*block).ok()) ++*pushed;
      }
    } else if (!sealed) {
      (void)writer.Finish(absl::OkStatus());
    }
    return sealed || disk.operations_left == 0;
  });
  return std::max(acknowledged, writer.watermarks().durable);
}

bool IsRight(uint64_t sequence, std::span<const std::byte> payload) {
  return AllAre(ByteOf(sequence), payload);
}

void Check(FaultDisk& disk, uint32_t members, uint64_t acknowledged, uint64_t pushed, uint64_t seed,
           CrashStates* states) {
  const ManualClock clock;
  auto store = MakeFaultStore(disk, members);
  auto manifest = recording::LoadManifest(*store, kPath, clock);
  if (!manifest.ok()) {
    EXPECT_TRUE(absl::IsNotFound(manifest.status())) << manifest.status();
    EXPECT_EQ(acknowledged, 0u) << "acknowledged without a manifest";
    return;
  }
  if (manifest->state == services::RecordingState::kRecording) {
    disk.operations_left = seed % 24;  // the power goes again while it recovers
    (void)recording::SalvageRecording(*store, kPath, *manifest, "power", clock);
    disk.CutPower(seed + 1);
    states->Add(disk);
    manifest = recording::LoadManifest(*store, kPath, clock);
    ASSERT_TRUE(manifest.ok()) << manifest.status();
  }
  if (manifest->state == services::RecordingState::kRecording) {
    const format::Manifest open = *manifest;
    manifest = recording::SalvageRecording(*store, kPath, open, "power", clock);
    ASSERT_TRUE(manifest.ok()) << manifest.status();
    const auto again = recording::SalvageRecording(*store, kPath, open, "power", clock);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->blocks, manifest->blocks);
    EXPECT_EQ(again->missing, manifest->missing);
  }
  const std::set<uint64_t> listed = BlocksOf(*manifest);
  EXPECT_EQ(Play(*store, kPath, *manifest, IsRight), listed);
  for (uint64_t i = 0; i < acknowledged; ++i) EXPECT_TRUE(listed.contains(i)) << "lost block " << i;
  const uint64_t end = listed.empty() ? 0 : *listed.rbegin() + 1;
  EXPECT_LE(end, pushed);
  EXPECT_TRUE(repair::VerifyBlocks(*store, kPath, *manifest, clock, [](const auto& progress) {
                for (const auto& damaged : progress.damaged) ExpectOfPowerCut(damaged);
                return true;
              }).ok());
}

TEST(PowerCut, DurableBlocksSurviveAndNothingElseIsGivenAsGood) {
  CrashStates states;
  uint64_t acknowledged_blocks = 0;
  const std::vector<uint64_t> seeds = StateSeeds(kSeeds);
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE(HowToRepeat(seed));
    const auto members = static_cast<uint32_t>(1 + seed % 2);
    FaultDisk disk;
    disk.random.seed(seed);
    // Whole blocks of an earlier recording, each one place further.
    for (uint64_t i = 0; i < 24; ++i)
      disk.stale.insert(disk.stale.end(), kCutBlockBytes, ByteOf(i + 1));
    disk.stale_index = StaleIndex(static_cast<uint32_t>(seed) + 1);
    uint64_t pushed = 0;
    const uint64_t acknowledged = Record(disk, seed, members, &pushed);
    acknowledged_blocks += acknowledged;
    for (uint64_t ending = 0; ending < kEndingsPerCut; ++ending) {
      FaultDisk after = disk;
      after.CutPower(seed * kEndingsPerCut + ending);
      states.Add(after);
      Check(after, members, acknowledged, pushed, seed * kEndingsPerCut + ending, &states);
    }
    if (HasFailure()) break;
  }
  if (!HasFailure() && seeds.size() >= kSeeds) {
    EXPECT_GT(acknowledged_blocks, 0u);
    EXPECT_GE(states.distinct(), kDistinctStates);
  }
  states.Print();
  std::printf("%lu blocks acknowledged before them\n", acknowledged_blocks);
}

}  // namespace
}  // namespace tapedeck::sim
