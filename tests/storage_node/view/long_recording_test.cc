// A recording of 1 TiB: every picture of it reads 64 MiB at most.
#include <gtest/gtest.h>

#include "tests/storage_node/view/sparse_recording.h"
#include "tests/storage_node/view/view_fixture.h"

namespace tapedeck::storage_node::view {
namespace {

using services::SampleSpan;

constexpr uint64_t kMost = 64 << 20;
constexpr uint64_t kBlock = 1 << 20;
constexpr uint64_t kLongBlocks = 1 << 20;
constexpr uint64_t kLongSamples = kLongBlocks * kBlock / 8;

// Two blocks of zeros, which MakeLong then makes a million of.
std::string RecordZeros(NodeFixture& node) {
  const std::string channel = "luns/l/channels/c1";
  EXPECT_TRUE(
      node.node()
          .channels()
          .CreateChannel(
              {.name = channel, .block_bytes = kBlock, .datatype = "cf32_le", .sample_rate = 1e9},
              "")
          .ok());
  auto recorder = node.Record({.channel = channel});
  EXPECT_TRUE(recorder.ok()) << recorder.status();
  for (uint64_t i = 0; i < 2; ++i) {
    Push(*recorder, i, std::vector<std::byte>(kBlock), kBlock / 8);
  }
  EXPECT_TRUE(recorder->Finish().ok());
  return recorder->admission.accept.recording;
}

TEST(LongRecordingTest, EveryPictureReadsLittleOfIt) {
  NodeFixture node("posix", 1, 0);
  const std::string name = RecordZeros(node);
  const std::string directory = node.dir().path() + "/m0/c1" + name.substr(name.rfind('/'));
  node.Stop();
  const absl::Status made = MakeLong(directory, kLongBlocks);
  if (absl::IsUnavailable(made)) GTEST_SKIP() << made;
  ASSERT_TRUE(made.ok()) << made;
  ASSERT_TRUE(node::RebuildCatalog(node.state_dir()).ok());
  node.Start();
  services::ViewControl& view = node.node().view();
  ASSERT_EQ(view.GetTimeline(name).value().samples, kLongSamples);
  const auto look = [&](const SampleSpan& span, uint32_t columns, uint32_t rows) {
    const auto seen =
        view.ReadSpectrogram({.recording = name, .span = span, .columns = columns, .rows = rows});
    ASSERT_TRUE(seen.ok()) << seen.status();
    EXPECT_LE(seen->bytes_read, kMost);
    EXPECT_EQ(seen->damaged_pieces, 0u);
    // Silence, seen in every row.
    for (uint32_t row = 0; row < seen->rows; ++row) EXPECT_EQ(At(*seen, row, 0), -200) << row;
  };
  look({.first = 0, .count = 0}, 512, 512);
  look({.first = 0, .count = 0}, 16, 2048);
  look({.first = 0, .count = 0}, 4096, 2048);
  look({.first = kLongSamples / 3, .count = kLongSamples / 1000}, 1024, 512);
  look({.first = kLongSamples - 5000, .count = 5000}, 1024, 512);
  const auto envelope = view.ReadEnvelope({.recording = name, .points = 4096});
  ASSERT_TRUE(envelope.ok()) << envelope.status();
  EXPECT_LE(envelope->bytes_read, kMost);
  EXPECT_EQ(envelope->powers.front(), 0);
}

}  // namespace
}  // namespace tapedeck::storage_node::view
