#include "dataplane/block/frame.h"

#include <gtest/gtest.h>

namespace tapedeck::dataplane {
namespace {

const Frame kFrame{.type = FrameType::kBlock,
                   .slot = 0x01020304,
                   .number = 77,
                   .block = {.recording = 1,
                             .sequence = 2,
                             .sample_index = 1ull << 40,
                             .capture_ns = -5,
                             .payload_bytes = 1 << 20,
                             .crc32c = 0xdeadbeef,
                             .flags = kBlockPartial | kBlockTriggered,
                             .triggers = {.first = 0x010203, .last = 0xfffffe}}};

TEST(Frame, RoundTrip) {
  const absl::StatusOr<Frame> got = DecodeFrame(EncodeFrame(kFrame));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->type, kFrame.type);
  EXPECT_EQ(got->slot, kFrame.slot);
  EXPECT_EQ(got->number, kFrame.number);
  EXPECT_EQ(got->block, kFrame.block);
}

// The offsets of dataplane/README.md.
TEST(Frame, LiesOnTheWireAsDocumented) {
  const FrameBytes bytes = EncodeFrame(kFrame);
  EXPECT_EQ(bytes[0], std::byte{'T'});
  EXPECT_EQ(bytes[1], std::byte{'D'});
  EXPECT_EQ(bytes[2], std::byte{kFrameVersion});
  EXPECT_EQ(bytes[3], std::byte{1});
  EXPECT_EQ(bytes[4], std::byte{4});   // slot
  EXPECT_EQ(bytes[8], std::byte{1});   // recording
  EXPECT_EQ(bytes[16], std::byte{2});  // sequence
  EXPECT_EQ(bytes[29], std::byte{1});  // sample index 2^40
  EXPECT_EQ(bytes[32], std::byte{0xfb});
  EXPECT_EQ(bytes[42], std::byte{0x10});  // payload bytes
  EXPECT_EQ(bytes[44], std::byte{0xef});  // payload CRC32C
  EXPECT_EQ(bytes[48], std::byte{77});    // number
  EXPECT_EQ(bytes[52], std::byte{10});    // flags
  EXPECT_EQ(bytes[54], std::byte{3});     // first trigger
  EXPECT_EQ(bytes[56], std::byte{1});
  EXPECT_EQ(bytes[57], std::byte{0xfe});  // last trigger
  EXPECT_EQ(bytes[59], std::byte{0xff});
}

TEST(Frame, EveryBitFlipIsFound) {
  FrameBytes bytes = EncodeFrame(kFrame);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_EQ(DecodeFrame(bytes).status().code(), absl::StatusCode::kDataLoss) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

}  // namespace
}  // namespace tapedeck::dataplane
