// A LUN that fills up stops at an exact block and keeps all before it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>

#include "tests/storage_node/node_fixture.h"
#include "tests/storage_node/store/directory/spare_files.h"

namespace tapedeck::storage_node {
namespace {

// Pushes until the sink refuses, then closes the session as it would; returns the refusal.
absl::Status FillUp(Recorder* recorder, uint64_t* pushed) {
  absl::Status status;
  for (*pushed = 0; *pushed < 100'000; ++*pushed) {
    status = recorder->Push(*pushed);
    if (!status.ok()) break;
  }
  EXPECT_TRUE(recorder->Finish(status).ok());
  return status;
}

class CapacityTest : public testing::TestWithParam<std::string> {
 protected:
  // 64 blocks fill a unit of a block device.
  static uint64_t Room(uint64_t blocks) { return Takes(GetParam(), blocks); }
  static uint64_t Used(NodeFixture& node) {
    return node.node().luns().GetLun("luns/l")->used_bytes;
  }
};

TEST_P(CapacityTest, StopsAtTheCapacityAndKeepsTheRest) {
  constexpr uint64_t kCapacityBlocks = 128;
  NodeFixture node(GetParam(), 1, Room(kCapacityBlocks));
  auto recorder = node.Record();
  ASSERT_TRUE(recorder.ok());
  uint64_t pushed = 0;
  const absl::Status status = FillUp(&*recorder, &pushed);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(Reason(status), "LUN_FULL");
  EXPECT_EQ(pushed, kCapacityBlocks);
  const std::string name = recorder->admission.accept.recording;
  const services::Recording recording = node.Get(name);
  EXPECT_EQ(recording.state, services::RecordingState::kSalvaged);
  EXPECT_EQ(recording.blocks, kCapacityBlocks);
  EXPECT_EQ(recording.missing_blocks, 0u);
  EXPECT_EQ(recording.durable_watermark, kCapacityBlocks);
  EXPECT_THAT(recording.cause, testing::HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_THAT(node.Verify(name), testing::IsEmpty());

  EXPECT_EQ(Reason(node.Record().status()), "LUN_FULL") << "a full LUN admits nobody";
  EXPECT_EQ(Used(node), Room(kCapacityBlocks));
  recorder->admission = {};
  ASSERT_TRUE(node.node().recordings().DeleteRecording(name).ok());
  EXPECT_EQ(node.PlayAll(node.RecordAndSeal(kCapacityBlocks)).size(), kCapacityBlocks);
}

TEST_P(CapacityTest, WhatCannotFitIsNotStarted) {
  NodeFixture node(GetParam(), 1, Room(64));
  const absl::Status refused = node.Record({.expected_blocks = 65}).status();
  EXPECT_EQ(Reason(refused), "LUN_FULL");
  EXPECT_EQ(services::ReasonOf(refused)->metadata.at("lacks"), "capacity") << refused;
  EXPECT_TRUE(node.node().recordings().ListRecordings("luns/-/channels/-")->empty());
  EXPECT_TRUE(node.Record({.expected_blocks = 64}).ok());
}

TEST_P(CapacityTest, RoomThatWasPromisedIsKept) {
  NodeFixture node(GetParam(), 1, Room(64) + Room(128));
  auto promised = node.Record({.expected_blocks = 64});
  ASSERT_TRUE(promised.ok()) << promised.status();
  EXPECT_EQ(Reason(node.Record({.expected_blocks = 129}).status()), "LUN_FULL");
  auto other = node.Record();
  ASSERT_TRUE(other.ok()) << other.status();
  uint64_t pushed = 0;
  EXPECT_EQ(Reason(FillUp(&*other, &pushed)), "LUN_FULL");
  EXPECT_EQ(pushed, 128u);
  for (uint64_t i = 0; i < 64; ++i) ASSERT_TRUE(promised->Push(i).ok()) << i;
  EXPECT_TRUE(promised->Finish().ok());
  EXPECT_EQ(Used(node), Room(64) + Room(128));
}

TEST_P(CapacityTest, PromisedRoomComesBackUnused) {
  NodeFixture node(GetParam(), 1, Room(1) + Room(64));
  {
    auto shorter = node.Record({.expected_blocks = 64});
    ASSERT_TRUE(shorter.ok());
    ASSERT_TRUE(shorter->Push(0).ok());
    ASSERT_TRUE(shorter->Finish().ok());
    EXPECT_EQ(Used(node), Room(1));
    ASSERT_TRUE(node.Record({.expected_blocks = 64}).ok());
  }
  EXPECT_EQ(Used(node), Room(1));
}

TEST_P(CapacityTest, VanishedSessionsDoNotLeakCapacity) {
  NodeFixture node(GetParam(), 1, Room(64));
  for (int round = 0; round < 8; ++round) {
    std::string name;
    {
      auto recorder = node.Record();
      ASSERT_TRUE(recorder.ok()) << recorder.status();
      name = recorder->admission.accept.recording;
      for (uint64_t i = 0; i < 40; ++i) ASSERT_TRUE(recorder->Push(i).ok());
    }
    const services::Recording recording = node.Get(name);
    EXPECT_EQ(recording.state, services::RecordingState::kSalvaged);
    EXPECT_EQ(Used(node), Room(recording.blocks));
    ASSERT_TRUE(node.node().recordings().DeleteRecording(name).ok());
    EXPECT_EQ(Used(node), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, CapacityTest,
                         testing::Values("posix", "direct", "device", "memory"),
                         [](const auto& info) { return info.param; });

// A file system of 8 MiB, where the machine lets us mount one.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    mounted_ = mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=8m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  const std::string path_;
  bool mounted_;
};

TEST(FullDisk, StopsWithANamedErrorAndKeepsWhatWasAcknowledged) {
  TempDir dir;
  const SmallDisk disk(dir.Make("small"));
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount a tmpfs here";
  NodeFixture node;
  ASSERT_TRUE(
      node.node()
          .luns()
          .CreateLun({.name = "luns/small", .store = "posix", .members = {dir.path() + "/small"}},
                     "")
          .ok());
  ASSERT_TRUE(
      node.node()
          .channels()
          .CreateChannel(
              {.name = "luns/small/channels/c", .block_bytes = kBlockBytes, .datatype = "cu8"}, "")
          .ok());
  auto recorder = node.Record({.channel = "luns/small/channels/c"});
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  uint64_t pushed = 0;
  const absl::Status status = FillUp(&*recorder, &pushed);
  EXPECT_EQ(Reason(status), "LUN_FULL") << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr(dir.path() + "/small"));
  const std::string name = recorder->admission.accept.recording;
  const services::Recording recording = node.Get(name);
  EXPECT_EQ(recording.state, services::RecordingState::kSalvaged);
  EXPECT_GT(recording.blocks, 64u);
  EXPECT_GE(recording.durable_watermark, recorder->admission.sink->watermarks().durable);
  for (const auto& damaged : node.Verify(name))
    EXPECT_EQ(damaged.kind, services::DamageKind::kMissing);
}

class FullDiskWithSpares : public testing::TestWithParam<std::string> {
 protected:
  void TearDown() override {
    node_.Stop();
    disks_.clear();
  }
  // A LUN on a disk of its own, with its spares.
  void MakeLun(const std::string& id, uint32_t spares) {
    const std::string member = node_.dir().Make(id);
    disks_.push_back(std::make_unique<SmallDisk>(member));
    if (!disks_.back()->mounted()) GTEST_SKIP() << "cannot mount a tmpfs here";
    const auto made =
        node_.node().luns().CreateLun({.name = "luns/" + id,
                                       .store = GetParam(),
                                       .members = {member},
                                       .prewrite_files = spares,
                                       .prewrite_bytes = spares > 0 ? uint64_t{1} << 20 : 0},
                                      "");
    if (Reason(made.status()) == "MEMBER_UNUSABLE") GTEST_SKIP() << made.status();
    ASSERT_TRUE(made.ok()) << made.status();
    ASSERT_TRUE(node_.node()
                    .channels()
                    .CreateChannel({.name = "luns/" + id + "/channels/c",
                                    .block_bytes = kBlockBytes,
                                    .datatype = "cu8"},
                                   "")
                    .ok());
    ASSERT_TRUE(node_.executor().RunUntil([&] { return Spares(id) == spares; }));
  }
  size_t Spares(const std::string& id) const {
    return SparesOf(node_.dir().path() + "/" + id).size();
  }
  absl::StatusOr<Recorder> Record(const std::string& id) {
    return node_.Record({.channel = "luns/" + id + "/channels/c"});
  }

  NodeFixture node_;
  std::vector<std::unique_ptr<SmallDisk>> disks_;
};

TEST_P(FullDiskWithSpares, RecordingEndsNoEarlierForThem) {
  uint64_t blocks[2];
  for (const uint32_t spares : {0, 5}) {
    const std::string id = "d" + std::to_string(spares);
    MakeLun(id, spares);
    if (IsSkipped() || HasFatalFailure()) return;
    auto recorder = Record(id);
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    uint64_t pushed = 0;
    EXPECT_EQ(Reason(FillUp(&*recorder, &pushed)), "LUN_FULL");
    EXPECT_EQ(Spares(id), 0u);
    const std::string name = recorder->admission.accept.recording;
    blocks[spares > 0] = node_.Get(name).blocks;
    for (const auto& damaged : node_.Verify(name))
      EXPECT_EQ(damaged.kind, services::DamageKind::kMissing);
  }
  EXPECT_GT(blocks[0], 100u);
  EXPECT_GE(blocks[1] + 1, blocks[0]);
}

TEST_P(FullDiskWithSpares, RecordingBeginsInTheirRoom) {
  MakeLun("d", 3);  // for payload, index and manifest
  if (IsSkipped() || HasFatalFailure()) return;
  {
    std::ofstream rest(node_.dir().path() + "/d/rest", std::ios::binary);
    const std::string page(4096, 'x');
    while (rest.write(page.data(), 4096).flush()) {
    }
  }
  auto recorder = Record("d");
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  for (uint64_t i = 0; i < 8; ++i) ASSERT_TRUE(recorder->Push(i).ok()) << i;
  ASSERT_TRUE(recorder->Finish().ok());
  EXPECT_EQ(node_.PlayAll(recorder->admission.accept.recording).size(), 8u);
}

INSTANTIATE_TEST_SUITE_P(Stores, FullDiskWithSpares, testing::Values("posix", "direct"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tapedeck::storage_node
