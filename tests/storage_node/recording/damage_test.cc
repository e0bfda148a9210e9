// Planted damage is found, located and named; the other blocks play.
#include "tests/storage_node/damage.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "storage_node/format/index.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

constexpr uint64_t kRecordedBlocks = 12;
const format::EntryFormat kEntries = format::EntryFormat::Of(kBlockBytes, 0);

class Damage : public testing::Test {
 protected:
  void ExpectOnly(const std::string& recording, uint64_t sequence, services::DamageKind kind,
                  NodeFixture& node) {
    const auto damaged = node.Verify(recording);
    ASSERT_EQ(damaged.size(), 1u);
    EXPECT_EQ(damaged[0].sequence, sequence);
    EXPECT_EQ(damaged[0].kind, kind) << damaged[0].detail;
    const auto headers = node.PlayAll(recording);
    ASSERT_EQ(headers.size(), kRecordedBlocks);
    for (const auto& header : headers) {
      const bool bad = header.sequence == sequence;
      EXPECT_EQ((header.flags & dataplane::kBlockMissing) != 0, bad) << header.sequence;
      EXPECT_EQ(header.payload_bytes, bad ? 0 : kBlockBytes);
    }
  }

  NodeFixture node_;
};

TEST_F(Damage, FlippedBitIsRot) {
  const std::string name = node_.RecordAndSeal(kRecordedBlocks);
  FlipBit(node_.Directory(name) + "/data", 5 * kBlockBytes + 777);
  ExpectOnly(name, 5, services::DamageKind::kRot, node_);
}

TEST_F(Damage, BytesOfAnotherBlockAreMisdirected) {
  const std::string name = node_.RecordAndSeal(kRecordedBlocks);
  const std::string data = node_.Directory(name) + "/data";
  CopyBytes(data, 2 * kBlockBytes, data, 7 * kBlockBytes, kBlockBytes);
  ExpectOnly(name, 7, services::DamageKind::kMisdirected, node_);
}

// Both new writes were lost: an older recording's entry and payload lie there, and agree.
TEST_F(Damage, OldEntryWithItsOldPayloadIsStale) {
  const std::string old = node_.RecordAndSeal(kRecordedBlocks, 2);
  const std::string name = node_.RecordAndSeal(kRecordedBlocks);
  CopyBytes(node_.Directory(old) + "/data", 3 * kBlockBytes, node_.Directory(name) + "/data",
            3 * kBlockBytes, kBlockBytes);
  CopyBytes(node_.Directory(old) + "/index", kEntries.Offset(3), node_.Directory(name) + "/index",
            kEntries.Offset(3), kEntries.entry_bytes);
  ExpectOnly(name, 3, services::DamageKind::kStale, node_);
}

TEST_F(Damage, OldPayloadBelowANewEntryIsALostWrite) {
  const std::string old = node_.RecordAndSeal(kRecordedBlocks, 2);
  const std::string name = node_.RecordAndSeal(kRecordedBlocks);
  CopyBytes(node_.Directory(old) + "/data", 0, node_.Directory(name) + "/data", 0, kBlockBytes);
  ExpectOnly(name, 0, services::DamageKind::kTorn, node_);
}

TEST_F(Damage, EntryAtAnotherPlaceIsAnIndexError) {
  const std::string name = node_.RecordAndSeal(kRecordedBlocks);
  const std::string index = node_.Directory(name) + "/index";
  CopyBytes(index, kEntries.Offset(1), index, kEntries.Offset(2), kEntries.entry_bytes);
  ExpectOnly(name, 2, services::DamageKind::kIndex, node_);
}

TEST_F(Damage, TruncatedFileCostsTheLastBlock) {
  const std::string name = node_.RecordAndSeal(kRecordedBlocks);
  std::filesystem::resize_file(node_.Directory(name) + "/data", kRecordedBlocks * kBlockBytes - 1);
  ExpectOnly(name, kRecordedBlocks - 1, services::DamageKind::kTruncated, node_);
}

TEST(DamagedIndexCopy, TheOtherCopyServes) {
  NodeFixture node("posix", 2);
  const std::string name = node.RecordAndSeal(kRecordedBlocks);
  for (uint64_t i = 0; i < kRecordedBlocks; i += 2) {
    FlipBit(node.Directory(name, 0) + "/index", kEntries.Offset(i) + 20);
    FlipBit(node.Directory(name, 1) + "/index", kEntries.Offset(i + 1) + 20);
  }
  EXPECT_THAT(node.Verify(name), testing::IsEmpty());
  for (const auto& header : node.PlayAll(name)) EXPECT_EQ(header.flags, 0u);
}

TEST(DamagedIndexCopy, BothCopiesBadIsAnIndexError) {
  NodeFixture node("posix", 2);
  const std::string name = node.RecordAndSeal(kRecordedBlocks);
  FlipBit(node.Directory(name, 0) + "/index", kEntries.Offset(4) + 40);
  FlipBit(node.Directory(name, 1) + "/index", kEntries.Offset(4) + 40);
  const auto damaged = node.Verify(name);
  ASSERT_EQ(damaged.size(), 1u);
  EXPECT_EQ(damaged[0].sequence, 4u);
  EXPECT_EQ(damaged[0].kind, services::DamageKind::kIndex);
}

TEST_F(Damage, VerificationStopsWhenAskedTo) {
  const std::string name = node_.RecordAndSeal(200);
  int reports = 0;
  const absl::Status status = node_.node().recordings().VerifyRecording(
      name, [&](const services::VerifyProgress&) { return ++reports < 2; });
  EXPECT_TRUE(absl::IsCancelled(status));
  EXPECT_EQ(reports, 2);
}

}  // namespace
}  // namespace tapedeck::storage_node
