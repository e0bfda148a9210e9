#include "tests/sim/luns/playing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage_node/recording/reading/recording_reader.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::sim {

using namespace storage_node;  // NOLINT: the names under test

std::set<uint64_t> Play(store::Store& store, const store::RecordingPath& path,
                        const format::Manifest& manifest, IsRight is_right) {
  ManualExecutor executor(absl::ZeroDuration());
  std::set<uint64_t> good;
  auto files = store.Open(path, {}, executor);
  EXPECT_TRUE(files.ok()) << files.status();
  if (!files.ok()) return good;
  auto ring = *store.MakeRing({.slots = 4, .slot_bytes = manifest.block_bytes, .playback = true});
  recording::RecordingReader reader(
      {.name = path.recording, .manifest = manifest, .ring = std::move(ring)}, *std::move(files),
      executor);
  EXPECT_TRUE(executor.RunUntil([&] {
    dataplane::Block block;
    const auto flow = reader.Pull(&block);
    if (!flow.ok() || *flow == dataplane::Flow::kEnd) return true;
    if (*flow != dataplane::Flow::kMoved || block.payload().empty()) return false;
    const uint64_t sequence = block.header().sequence;
    good.insert(sequence);
    EXPECT_TRUE(is_right(sequence, block.payload())) << "wrong bytes in block " << sequence;
    return false;
  }));
  EXPECT_EQ(reader.damaged_blocks(), 0u);
  return good;
}

std::set<uint64_t> BlocksOf(const format::Manifest& manifest) {
  std::set<uint64_t> blocks;
  for (uint64_t i = 0; i < manifest.blocks; ++i) blocks.insert(i);
  for (const format::SequenceRange& range : manifest.missing) {
    for (uint64_t i = 0; i < range.count; ++i) blocks.erase(range.first + i);
  }
  return blocks;
}

void ExpectOfPowerCut(const services::DamagedBlock& damaged) {
  if (damaged.kind == services::DamageKind::kHeader) {
    EXPECT_THAT(damaged.detail, testing::AnyOf(testing::HasSubstr("no such file"),
                                               testing::HasSubstr("is there any more")));
  } else if (damaged.kind == services::DamageKind::kManifest) {
    EXPECT_THAT(damaged.detail, testing::AnyOf(testing::HasSubstr("there is none"),
                                               testing::HasSubstr("is there any more")));
  } else {
    EXPECT_EQ(damaged.kind, services::DamageKind::kMissing) << damaged.detail;
  }
}

}  // namespace tapedeck::sim
