// Of a block that is damaged in places, whoever takes it gets the good pieces and zeros for the
// rest.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "storage_node/format/pieces.h"
#include "tests/bytes.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

constexpr uint64_t kPlayedBlocks = 12;
constexpr uint64_t kBad = 5;
const uint64_t kPieceBytes = format::PieceBytesOf(kBlockBytes);

class DamagedPieces : public testing::TestWithParam<std::string> {
 protected:
  // With zeros in place of these pieces.
  static std::vector<std::byte> Without(const std::set<uint64_t>& pieces, size_t bytes) {
    auto payload = Payload(kBad, bytes);
    for (const uint64_t piece : pieces) {
      const size_t begin = piece * kPieceBytes;
      std::fill_n(payload.begin() + begin, std::min<size_t>(kPieceBytes, bytes - begin),
                  std::byte{0});
    }
    return payload;
  }

  // Plays it all through a ring of `slots`; block kBad, if it came with a payload.
  std::optional<std::vector<std::byte>> PlayBad(uint32_t slots = 0) {
    const services::session::Open open{.slots = slots, .playhead = {.damaged_blocks = true}};
    auto admission = node_.Play(name_, open);
    EXPECT_TRUE(admission.ok()) << admission.status();
    std::optional<std::vector<std::byte>> bad;
    for (uint64_t sequence = 0;; ++sequence) {
      const auto block = node_.Pull(*admission->source);
      EXPECT_TRUE(block.ok()) << block.status();
      if (!block.ok() || !block->has_value()) {
        EXPECT_EQ(sequence, blocks_);
        return bad;
      }
      const dataplane::BlockHeader& header = (*block)->header();
      EXPECT_EQ(header.sequence, sequence);
      EXPECT_EQ(header.crc32c, dataplane::Crc32c((*block)->payload())) << sequence;
      if (sequence != kBad) {
        EXPECT_EQ(header.flags & (dataplane::kBlockDamaged | dataplane::kBlockMissing), 0u);
        EXPECT_TRUE(SameBytes((*block)->payload(), Payload(sequence, kBlockBytes)));
      } else if ((header.flags & dataplane::kBlockDamaged) != 0) {
        EXPECT_EQ(header.sample_index, kBad * 1000);
        const auto payload = (*block)->payload();
        bad.emplace(payload.begin(), payload.end());
      } else {
        EXPECT_EQ(header.flags, dataplane::kBlockMissing);
      }
    }
  }

  std::string data() const { return node_.Directory(name_) + "/data"; }

  NodeFixture node_{GetParam()};
  uint64_t blocks_ = kPlayedBlocks;
  std::string name_ = node_.RecordAndSeal(kPlayedBlocks);
};

TEST_P(DamagedPieces, RotCostsThePiecesItIsIn) {
  FlipBit(data(), kBad * kBlockBytes + 3 * kPieceBytes + 77);
  FlipBit(data(), kBad * kBlockBytes + 9 * kPieceBytes);
  for (const uint32_t slots : {0u, 1u, 2u}) {
    EXPECT_EQ(PlayBad(slots), Without({3, 9}, kBlockBytes)) << slots << " slots";
  }
  const auto damaged = node_.Verify(name_);
  ASSERT_EQ(damaged.size(), 1u);
  EXPECT_EQ(damaged[0].ranges.size(), 2u) << "which says where they are";
}

TEST_P(DamagedPieces, WhoeverDoesNotTakeThemMissesTheBlock) {
  FlipBit(data(), kBad * kBlockBytes);
  const auto headers = node_.PlayAll(name_);
  ASSERT_EQ(headers.size(), kPlayedBlocks);
  EXPECT_EQ(headers[kBad].flags, dataplane::kBlockMissing);
}

TEST_P(DamagedPieces, WithoutAGoodPieceTheBlockIsMissing) {
  CopyBytes(data(), 2 * kBlockBytes, data(), kBad * kBlockBytes, kBlockBytes);
  EXPECT_EQ(PlayBad(), std::nullopt);
}

TEST_P(DamagedPieces, WhatLiesBeyondTheEndOfTheFileIsZeros) {
  blocks_ = kBad + 1;
  name_ = node_.RecordAndSeal(blocks_);
  std::filesystem::resize_file(data(), kBad * kBlockBytes + 14 * kPieceBytes);
  EXPECT_EQ(PlayBad(), Without({14, 15}, kBlockBytes));
}

TEST_P(DamagedPieces, SeveralInARowAndTheLastOneShort) {
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const size_t last = kBlockBytes - kPieceBytes - 100;
  for (uint64_t i = 0; i <= kBad; ++i) {
    ASSERT_TRUE(recorder->Push(i, i == kBad ? last : kBlockBytes).ok());
  }
  ASSERT_TRUE(recorder->Finish().ok());
  name_ = recorder->admission.accept.recording;
  for (uint64_t i = 0; i <= kBad; ++i) FlipBit(data(), i * kBlockBytes + 14 * kPieceBytes);
  auto admission = node_.Play(name_, {.playhead = {.damaged_blocks = true}});
  ASSERT_TRUE(admission.ok()) << admission.status();
  for (uint64_t i = 0; i <= kBad; ++i) {
    const auto block = node_.Pull(*admission->source);
    ASSERT_TRUE(block.ok() && block->has_value());
    EXPECT_EQ((*block)->header().sequence, i);
    EXPECT_NE((*block)->header().flags & dataplane::kBlockDamaged, 0u) << i;
    EXPECT_EQ((*block)->header().payload_bytes, i == kBad ? last : kBlockBytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, DamagedPieces, testing::Values("posix", "direct"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tapedeck::storage_node
