// A storage node with a device LUN: full devices, stops, and what a start finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "storage_node/node/check.h"
#include "storage_node/store/device/store.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

constexpr uint64_t kUnit = 4 << 20;
constexpr uint64_t kSmall = 64 << 20;  // 12 units

class BlockNode : public testing::Test {
 protected:
  explicit BlockNode(uint64_t image_bytes = kSmall, int members = 1)
      : node_("device", members, 0, image_bytes) {}

  services::Lun Lun() { return *node_.node().luns().GetLun("luns/l"); }

  NodeFixture node_;
};

TEST_F(BlockNode, DeviceIsTheCapacityAndWhatCannotFitIsNotStarted) {
  EXPECT_EQ(Lun().capacity_bytes, 12 * kUnit);  // 11 of payload, one of index
  EXPECT_EQ(Reason(node_.Record({.expected_blocks = 11 * kUnit / kBlockBytes + 1}).status()),
            "LUN_FULL");
  auto recorder = node_.Record({.expected_blocks = 11 * kUnit / kBlockBytes});
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  for (uint64_t i = 0; i < 11 * kUnit / kBlockBytes; ++i) ASSERT_TRUE(recorder->Push(i).ok()) << i;
  ASSERT_TRUE(recorder->Finish().ok());
  EXPECT_EQ(node_.PlayAll(recorder->admission.accept.recording).size(), 11 * kUnit / kBlockBytes);
  node_.Stop();
  node_.Start();
  EXPECT_EQ(Lun().capacity_bytes, 12 * kUnit);
  EXPECT_EQ(Lun().used_bytes, 12 * kUnit);
}

TEST_F(BlockNode, RecordingsThatFillTheDeviceTogetherEndWell) {
  std::vector<Recorder> recorders;
  for (uint64_t i = 0; i < 3; ++i) recorders.push_back(*node_.Record({}, i + 1));
  std::vector<absl::Status> ends(recorders.size());
  for (uint64_t block = 0; block < 10'000; ++block) {
    for (size_t i = 0; i < recorders.size(); ++i) {
      if (ends[i].ok()) ends[i] = recorders[i].Push(block);
    }
  }
  for (size_t i = 0; i < recorders.size(); ++i) {
    EXPECT_EQ(Reason(ends[i]), "LUN_FULL") << ends[i];
    EXPECT_THAT(std::string(ends[i].message()), testing::HasSubstr("delete recordings"));
    EXPECT_TRUE(recorders[i].Finish(ends[i]).ok());
    const std::string name = recorders[i].admission.accept.recording;
    EXPECT_GT(node_.Get(name).blocks, 64u);
    EXPECT_GE(node_.Get(name).durable_watermark, recorders[i].admission.sink->watermarks().durable);
    for (const auto& damaged : node_.Verify(name))
      EXPECT_EQ(damaged.kind, services::DamageKind::kMissing);
    node_.PlayAll(name, i + 1);
  }
}

TEST_F(BlockNode, KilledRecordingIsSalvagedAndNothingOldIsPlayed) {
  const std::string old = node_.RecordAndSeal(500, 1);
  ASSERT_TRUE(node_.node().recordings().DeleteRecording(old).ok());
  std::string name;
  {
    auto recorder = node_.Record({}, 2);
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    name = recorder->admission.accept.recording;
    for (uint64_t i = 0; i < 120; ++i) ASSERT_TRUE(recorder->Push(i).ok());
    ASSERT_TRUE(node_.executor().RunUntil(
        [&] { return recorder->admission.sink->watermarks().durable >= 100; }));
  }
  node_.Stop();
  node_.Start();
  const services::Recording recording = node_.Get(name);
  EXPECT_EQ(recording.state, services::RecordingState::kSalvaged);
  EXPECT_GE(recording.blocks, 100u);
  EXPECT_LE(recording.blocks, 120u);
  for (const auto& damaged : node_.Verify(name))
    EXPECT_EQ(damaged.kind, services::DamageKind::kMissing);
  EXPECT_EQ(node_.PlayAll(name, 2).size(), recording.blocks);
  EXPECT_EQ(Lun().used_bytes, Takes("device", recording.blocks));
  // What it had ahead is free again.
  EXPECT_EQ(node_.PlayAll(node_.RecordAndSeal(400, 3), 3).size(), 400u);
}

TEST_F(BlockNode, CatalogAndChannelsComeBackFromFilesAndDevice) {
  const std::string name = node_.RecordAndSeal(20);
  node_.Stop();
  ASSERT_TRUE(node::RebuildCatalog(node_.state_dir()).ok());
  node_.Start();
  EXPECT_EQ(node_.Get(name).blocks, 20u);
  EXPECT_EQ(node_.PlayAll(name).size(), 20u);
  EXPECT_TRUE(node_.node().channels().GetChannel("luns/l/channels/c").ok());
  ASSERT_TRUE(node_.node().luns().DeleteLun("luns/l", /*force=*/true).ok());
  services::Lun lun{
      .name = "luns/again", .store = "device", .members = {node_.dir().path() + "/m0"}};
  EXPECT_TRUE(node_.node().luns().CreateLun(lun, "").ok()) << "the device is free again";
}

TEST_F(BlockNode, CheckFindsDamageAndChangesNoRecording) {
  const std::string name = node_.RecordAndSeal(300);
  const std::string image = node_.dir().path() + "/m0";
  node_.Stop();
  std::vector<std::string> findings;
  const auto check = [&] {
    findings.clear();
    const auto totals =
        node::CheckStorage(node_.state_dir(), ManualClock(), [&](const node::Finding& finding) {
          findings.push_back(finding.where + " " + finding.kind);
        });
    ASSERT_TRUE(totals.ok()) << totals.status();
    EXPECT_EQ(totals->blocks, 300u);
  };
  check();
  EXPECT_THAT(findings, testing::IsEmpty());
  // The bytes of block 7, wherever they lie.
  const auto payload = Payload(7, kBlockBytes);
  const std::string wanted(reinterpret_cast<const char*>(payload.data()), 64);
  std::fstream file(image, std::ios::binary | std::ios::in | std::ios::out);
  std::string all(kSmall, '\0');
  file.read(all.data(), static_cast<std::streamsize>(all.size()));
  const size_t at = all.find(wanted);
  ASSERT_NE(at, std::string::npos);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(all[at] ^ 1));
  file.close();
  check();
  EXPECT_THAT(findings, testing::ElementsAre(name + "/7 rot"));
}

class TwoDevices : public BlockNode {
 protected:
  TwoDevices() : BlockNode(kSmall, 2) {}
};

// The node may die when one member knows of a recording and the other does not.
TEST_F(TwoDevices, PartOfARecordingIsRemovedAtTheNextStart) {
  EXPECT_EQ(Lun().capacity_bytes, 24 * kUnit);
  const services::Lun lun = Lun();
  node_.Stop();
  for (const uint32_t member : {0u, 1u}) {
    auto store = store::device::Open(lun, member);
    ASSERT_TRUE(store.ok()) << store.status();
    auto files = (*store)->Open({.channel = "c", .recording = "part"}, store::ToCreate(kBlockBytes),
                                node_.executor());
    ASSERT_TRUE(files.ok());
    bool done = false;
    (*files)->WriteIndex(0, 0, store::Bytes(64), [&](absl::Status) { done = true; });
    ASSERT_TRUE(node_.executor().RunUntil([&] { return done; }));
    *files = nullptr;
    *store = nullptr;
    node_.Start();
    EXPECT_TRUE(node_.node().recordings().ListRecordings("luns/l/channels/c")->empty());
    node_.Stop();
    EXPECT_THAT(*(*store::device::Open(lun, member))->ListRecordings({}), testing::IsEmpty());
  }
}

}  // namespace
}  // namespace tapedeck::storage_node
