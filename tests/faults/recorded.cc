#include "tests/faults/recorded.h"

#include <gtest/gtest.h>

#include "dataplane/crc/crc32c.h"
#include "storage_node/recording/reading/recording_reader.h"
#include "storage_node/recording/writing/recording_writer.h"
#include "storage_node/repair/verify.h"
#include "tests/bytes.h"
#include "tests/sim/disks/fault_store.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::faults {
namespace {

using namespace storage_node;  // NOLINT: the names under test

store::RecordingPath PathOf(const std::string& id) { return {.channel = "c", .recording = id}; }

format::Manifest Fresh(uint8_t recording, uint32_t members) {
  format::Manifest manifest{.id = std::to_string(recording),
                            .members = members,
                            .block_bytes = kBlockBytes,
                            .datatype = "cu8"};
  manifest.identity.channel = "c";
  manifest.identity.epoch = 1000u + recording;
  manifest.identity.recording.bytes[0] = std::byte{recording};
  return manifest;
}

}  // namespace

std::vector<std::byte> PayloadOf(uint8_t recording, uint64_t sequence) {
  return RandomBytes(recording * 1'000'003 + sequence, kBlockBytes);
}

format::Manifest Record(sim::FaultDisk& disk, uint8_t recording, uint64_t blocks,
                        uint32_t members) {
  ManualExecutor executor(absl::ZeroDuration());
  const auto store = sim::MakeFaultStore(disk, members);
  const auto ring = *store->MakeRing({.slots = 8, .slot_bytes = kBlockBytes});
  format::Manifest sealed = Fresh(recording, members);
  recording::RecordingWriter writer(
      {.name = sealed.id,
       .manifest = sealed,
       .ring_slots = 8,
       .capacity = std::make_shared<recording::Capacity>(0),
       .live = std::make_shared<recording::LiveRecording>(),
       .on_sealed =
           [&](const format::Manifest& m, const std::function<void()>& done) {
             sealed = m;
             done();
           }},
      *store->Open(PathOf(sealed.id), store::ToCreate(kBlockBytes), executor), executor);
  uint64_t next = 0;
  EXPECT_TRUE(executor.RunUntil([&] {
    if (next == blocks) {
      const auto flow = writer.Finish(absl::OkStatus());
      EXPECT_TRUE(flow.ok()) << flow.status();
      return !flow.ok() || *flow == dataplane::Flow::kEnd;
    }
    auto block = ring->Take();
    if (!block.has_value()) return false;
    PutBytes(PayloadOf(recording, next), block->memory());
    block->header() = {.sequence = next++, .payload_bytes = kBlockBytes};
    block->header().crc32c = dataplane::Crc32c(block->payload());
    EXPECT_TRUE(writer.Push(&*block).ok());
    return false;
  }));
  return sealed;
}

sim::DiskRecording& FilesOf(sim::FaultDisk& disk, uint8_t recording) {
  return disk.recordings.at("c/" + std::to_string(recording));
}

std::map<uint64_t, services::DamagedBlock> Verify(sim::FaultDisk& disk,
                                                  const format::Manifest& manifest) {
  std::map<uint64_t, services::DamagedBlock> found;
  const ManualClock clock;
  const auto store = sim::MakeFaultStore(disk, manifest.members);
  const absl::Status status = repair::VerifyBlocks(*store, PathOf(manifest.id), manifest, clock,
                                                   [&](const services::VerifyProgress& progress) {
                                                     for (const auto& block : progress.damaged)
                                                       found[block.sequence] = block;
                                                     return true;
                                                   });
  EXPECT_TRUE(status.ok()) << status;
  return found;
}

std::set<uint64_t> Play(sim::FaultDisk& disk, const format::Manifest& manifest) {
  ManualExecutor executor(absl::ZeroDuration());
  const auto store = sim::MakeFaultStore(disk, manifest.members);
  recording::RecordingReader reader(
      {.name = manifest.id,
       .manifest = manifest,
       .ring = *store->MakeRing({.slots = 8, .slot_bytes = kBlockBytes})},
      *store->Open(PathOf(manifest.id), {}, executor), executor);
  const auto recording = static_cast<uint8_t>(std::stoi(manifest.id));
  std::set<uint64_t> good;
  EXPECT_TRUE(executor.RunUntil([&] {
    dataplane::Block block;
    const auto flow = reader.Pull(&block);
    EXPECT_TRUE(flow.ok()) << flow.status();
    if (!flow.ok() || *flow == dataplane::Flow::kEnd) return true;
    if (*flow != dataplane::Flow::kMoved || block.payload().empty()) return false;
    const uint64_t sequence = block.header().sequence;
    EXPECT_TRUE(SameBytes(block.payload(), PayloadOf(recording, sequence)))
        << "wrong bytes in block " << sequence;
    good.insert(sequence);
    return false;
  }));
  return good;
}

}  // namespace tapedeck::faults
