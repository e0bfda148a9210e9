// The capacity counts what recordings take, and the same at every moment of their life.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;

class FootprintTest : public testing::TestWithParam<std::string> {
 protected:
  uint64_t Used() { return node_.node().luns().GetLun("luns/l")->used_bytes; }
  // `count` blocks of `bytes`; 0 bytes: missing ones, but for the first.
  std::string RecordSmall(uint64_t count, size_t bytes) {
    auto recorder = *node_.Record();
    for (uint64_t i = 0; i < count; ++i) {
      const bool missing = bytes == 0 && i > 0;
      const size_t payload = bytes == 0 && i == 0 ? 1 : bytes;
      const uint32_t flags = missing ? uint32_t{dataplane::kBlockMissing} : 0;
      EXPECT_TRUE(recorder.Push(i, payload, flags).ok());
    }
    EXPECT_TRUE(recorder.Finish().ok());
    return recorder.admission.accept.recording;
  }
  // What the file system says of a recording's files, but for those of other programs: they are not
  // counted.
  uint64_t OnDisk(const std::string& recording) {
    uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(node_.Directory(recording))) {
      if (entry.path().filename().string().starts_with("data.sigmf-")) continue;
      struct stat status;
      if (stat(entry.path().c_str(), &status) == 0) bytes += 512 * status.st_blocks;
    }
    return bytes;
  }

  NodeFixture node_{GetParam()};
};

TEST_P(FootprintTest, ShortBlocksTakeTheirSlots) {
  const std::string recording = RecordSmall(200, 1);
  EXPECT_EQ(node_.Get(recording).bytes, 200u);
  EXPECT_EQ(Used(), Takes(GetParam(), 200));
  if (GetParam() == "posix" || GetParam() == "direct") {
    EXPECT_LE(OnDisk(recording), Used());
  }
  ASSERT_TRUE(node_.node().recordings().DeleteRecording(recording).ok());
  EXPECT_EQ(Used(), 0u);
}

TEST_P(FootprintTest, MissingBlocksTakeTheirSlots) {
  RecordSmall(100, 0);
  EXPECT_EQ(Used(), Takes(GetParam(), 100));
}

TEST_P(FootprintTest, AStartCountsTheSame) {
  if (GetParam() == "memory") GTEST_SKIP() << "its recordings go with the node";
  RecordSmall(30, 1);
  {
    auto cut = *node_.Record();
    for (uint64_t i = 0; i < 70; ++i) ASSERT_TRUE(cut.Push(i, 9).ok());
    ASSERT_TRUE(
        node_.executor().RunUntil([&] { return cut.admission.sink->watermarks().durable >= 10; }));
  }
  node_.Stop();
  node_.Start();
  uint64_t taken = 0;
  const auto listed = node_.node().recordings().ListRecordings("luns/l/channels/c");
  for (const services::Recording& recording : *listed) {
    taken += Takes(GetParam(), recording.blocks);
  }
  EXPECT_GE(taken, Takes(GetParam(), 30) + Takes(GetParam(), 10));
  EXPECT_EQ(Used(), taken);
  node_.Stop();
  ASSERT_TRUE(node::RebuildCatalog(node_.state_dir()).ok());
  node_.Start();
  EXPECT_EQ(Used(), taken);
}

TEST_P(FootprintTest, MarkersCountAndGoWithTheirRecording) {
  const std::string recording = RecordSmall(3, 1);
  const uint64_t before = Used();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(node_.node()
                    .recorder()
                    .AnnotateRecording(recording, {.comment = std::string(1000, 'c')})
                    .ok());
  }
  const bool counts = GetParam() == "posix" || GetParam() == "direct";
  EXPECT_GE(Used(), before + (counts ? 20'000 : 0));
  ASSERT_TRUE(node_.node().recordings().DeleteRecording(recording).ok());
  EXPECT_EQ(Used(), 0u);
}

TEST_P(FootprintTest, ASessionWithoutABlockLeavesNothing) {
  auto recorder = *node_.Record({.expected_blocks = 50});
  EXPECT_GT(Used(), 0u);
  EXPECT_TRUE(recorder.Finish(absl::CancelledError("not today")).ok());
  recorder.admission = {};
  EXPECT_EQ(Used(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Stores, FootprintTest,
                         testing::Values("posix", "direct", "device", "memory"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tapedeck::storage_node
