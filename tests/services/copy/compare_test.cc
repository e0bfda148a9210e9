// A copy that was found holds the blocks of its original, or is none.
#include "services/copy/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "dataplane/reason.h"

namespace tapedeck::services::copying {
namespace {

using dataplane::Block;
using dataplane::BlockHeader;
using testing::HasSubstr;

class NoOwner final : public dataplane::SlotOwner {
 public:
  void ReturnSlot(uint32_t /*slot*/) override {}
};

// Plays blocks with these headers.
NextBlock Gives(std::vector<BlockHeader> headers) {
  return [headers = std::move(headers), next = size_t{0},
          owner = std::make_shared<NoOwner>()]() mutable -> absl::StatusOr<std::optional<Block>> {
    if (next == headers.size()) return std::nullopt;
    Block block(owner, 0, {});
    block.header() = headers[next++];
    return block;
  };
}

class CompareTest : public testing::Test {
 protected:
  CompareTest() {
    for (uint32_t i = 0; i < 4; ++i) {
      blocks_.push_back({.sequence = i,
                         .sample_index = i * 1000,
                         .capture_ns = i,
                         .payload_bytes = 65536,
                         .crc32c = 7 + i});
    }
  }
  absl::Status Compare(const std::vector<BlockHeader>& copy) {
    Pace pace([&](uint64_t done) {
      compared_ = done;
      return done < most_ ? std::optional<uint64_t>(0) : std::nullopt;
    });
    return CompareBlocks({.original = "a", .copy = "b", .blocks = blocks_.size()}, Gives(blocks_),
                         Gives(copy), pace);
  }
  std::vector<BlockHeader> blocks_;
  uint64_t compared_ = 0;
  uint64_t most_ = UINT64_MAX;
};

TEST_F(CompareTest, AWholeCopyIs) {
  EXPECT_TRUE(Compare(blocks_).ok());
  EXPECT_EQ(compared_, 4u * 65536);
}

TEST_F(CompareTest, OneThatDiffersAnywhereIsNone) {
  const auto refused = [this](auto change) {
    std::vector<BlockHeader> copy = blocks_;
    change(copy);
    const absl::Status status = Compare(copy);
    EXPECT_EQ(dataplane::ReasonOf(status)->reason, "BLOCK_DAMAGED");
    return std::string(status.message());
  };
  EXPECT_THAT(refused([](auto& copy) { copy[2].crc32c = 1; }), HasSubstr("block 2"));
  EXPECT_THAT(refused([](auto& copy) { copy[1].payload_bytes = 1; }), HasSubstr("block 1"));
  EXPECT_THAT(refused([](auto& copy) { copy[1].sample_index = 1; }), HasSubstr("block 1"));
  EXPECT_THAT(refused([](auto& copy) { copy[1].capture_ns = 9; }), HasSubstr("block 1"));
  EXPECT_THAT(refused([](auto& copy) { copy[0].flags = dataplane::kBlockMissing; }),
              HasSubstr("block 0"));
  EXPECT_THAT(refused([](auto& copy) { copy[1].flags = dataplane::kBlockPartial; }),
              HasSubstr("block 1"));
  EXPECT_THAT(refused([](auto& copy) { copy[2].sequence = 3; }), HasSubstr("block 2"));
  EXPECT_THAT(refused([](auto& copy) { copy.pop_back(); }), HasSubstr("block 3"));
}

TEST_F(CompareTest, AnOriginalThatGivesLessIsNoEvidence) {
  const std::vector<BlockHeader> copy = blocks_;
  const auto compare = [&] {
    Pace pace([](uint64_t) { return std::optional<uint64_t>(0); });
    return CompareBlocks({.original = "a", .copy = "b", .blocks = 4}, Gives(blocks_), Gives(copy),
                         pace);
  };
  blocks_[1].flags = dataplane::kBlockMissing;
  blocks_[1].sequence = 2;
  EXPECT_TRUE(absl::IsDataLoss(compare())) << "it is another block that is missing";
  blocks_.resize(1);
  EXPECT_TRUE(absl::IsDataLoss(compare()));
}

TEST_F(CompareTest, WhatTheSourceHasNotMayBeThere) {
  const std::vector<BlockHeader> copy = blocks_;
  blocks_[1].flags = dataplane::kBlockMissing;
  EXPECT_TRUE(Compare(copy).ok());
}

TEST_F(CompareTest, WhoSaysNoEndsIt) {
  most_ = 65536;
  EXPECT_TRUE(absl::IsCancelled(Compare(blocks_)));
  EXPECT_EQ(compared_, 65536u);
}

}  // namespace
}  // namespace tapedeck::services::copying
