#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "gpu_worker/stages/ingest/placement.h"

namespace tapedeck::gpu_worker::stages::ingest {
namespace {

using Outcome = Placement::Outcome;
using testing::ElementsAre;

constexpr size_t kBlock = 4096;
constexpr size_t kSample = 4;
constexpr int64_t kBlockSamples = kBlock / kSample;

// One block that was given away, or several that are missing.
struct Given {
  std::vector<uint32_t> samples;
  std::vector<Range> gaps;
  uint64_t missing = 0;
};

class PlacementTest : public testing::Test {
 protected:
  PlacementTest()
      : pool_(dataplane::MemoryPool::Create(dataplane::host::Create(8 * kBlock).value(), kBlock)
                  .value()),
        placement_({.block_bytes = kBlock,
                    .sample_bytes = kSample,
                    .take = [this] { return TakeDirty(); },
                    .give = [this](Placed placed) { Keep(placed); }}) {}

  std::optional<dataplane::Block> TakeDirty() {
    auto slot = pool_->Take();
    if (slot.has_value()) std::ranges::fill(slot->memory(), std::byte{0xee});
    return slot;
  }

  void Keep(const Placed& placed) {
    Given& given =
        given_.emplace_back(Given{.gaps = placed.gaps, .missing = placed.missing_blocks});
    given.samples.resize(placed.bytes / kSample);
    std::ranges::copy(placed.slot.memory().first(placed.bytes),
                      std::as_writable_bytes(std::span(given.samples)).begin());
    blocks_ += given.missing > 0 ? given.missing : 1;
  }

  // Each sample is its position and 1.
  Outcome Place(int64_t position, int64_t count) {
    std::vector<uint32_t> samples;
    for (int64_t i = 0; i < count; ++i) {
      samples.push_back(static_cast<uint32_t>(position + i + 1));
    }
    return placement_.Place(position, std::as_bytes(std::span(samples)));
  }

  // Every sample is its own or, in a gap, 0.
  void ExpectRight() const {
    uint64_t block = 0;
    for (const Given& given : given_) {
      for (size_t i = 0; i < given.samples.size(); ++i) {
        const bool lost = std::ranges::any_of(given.gaps, [&](const Range& gap) {
          return i * kSample >= gap.begin && i * kSample < gap.end;
        });
        ASSERT_EQ(given.samples[i], lost ? 0 : block * kBlockSamples + i + 1) << block << ":" << i;
      }
      block += given.missing > 0 ? given.missing : 1;
    }
  }

  uint64_t Lost() const {
    uint64_t lost = 0;
    for (const Given& given : given_) {
      lost += given.missing * kBlockSamples;
      for (const Range& gap : given.gaps) lost += gap.size() / kSample;
    }
    return lost;
  }

  const std::shared_ptr<dataplane::MemoryPool> pool_;
  std::vector<Given> given_;
  uint64_t blocks_ = 0;
  Placement placement_;
};

TEST_F(PlacementTest, InOrderEachBlockGoesOnceItIsWhole) {
  for (int64_t at = 0; at < 3 * kBlockSamples; at += 256)
    EXPECT_EQ(Place(at, 256), Outcome::kTaken);
  EXPECT_EQ(given_.size(), 3u);
  EXPECT_EQ(Lost(), 0u);
  ExpectRight();
}

TEST_F(PlacementTest, APacketLiesInTwoBlocks) {
  for (int64_t at = 0; at < 3 * kBlockSamples; at += 300) Place(at, 300);
  EXPECT_EQ(blocks_, 3u);
  placement_.End(std::nullopt);
  EXPECT_EQ(given_.back().samples.size(), static_cast<size_t>(11 * 300 - 3 * kBlockSamples));
  EXPECT_EQ(Lost(), 0u);
  ExpectRight();
}

TEST_F(PlacementTest, OutOfOrderWithinABlockAllAreTaken) {
  Place(512, 256);
  Place(0, 256);
  Place(kBlockSamples, 256);  // of the next block
  Place(768, 256);
  EXPECT_TRUE(given_.empty());
  EXPECT_EQ(Place(256, 256), Outcome::kTaken);
  EXPECT_EQ(given_.size(), 1u);
  EXPECT_EQ(Lost(), 0u);
  ExpectRight();
}

TEST_F(PlacementTest, WhatIsLostIsZerosAndNamed) {
  Place(0, 100);
  Place(200, 100);
  Place(2 * kBlockSamples, 100);
  ASSERT_EQ(given_.size(), 1u);
  EXPECT_THAT(given_[0].gaps, ElementsAre(Range{400, 800}, Range{1200, kBlock}));
  ExpectRight();
}

TEST_F(PlacementTest, BlocksOfWhichNothingCameAreMissing) {
  Place(0, 100);
  Place(7 * kBlockSamples, 100);
  Place(9 * kBlockSamples + 5, 100);
  placement_.End(10 * kBlockSamples);
  EXPECT_EQ(blocks_, 10u);
  EXPECT_EQ(given_[1].missing, 5u);
  EXPECT_EQ(Lost(), 10u * kBlockSamples - 300);
  ExpectRight();
}

TEST_F(PlacementTest, RepeatedAndLatePacketsChangeNothing) {
  Place(0, 256);
  EXPECT_EQ(Place(0, 256), Outcome::kRepeated);
  EXPECT_EQ(Place(255, 2), Outcome::kRepeated);
  EXPECT_EQ(Place(-256, 256), Outcome::kLate);
  Place(2 * kBlockSamples, 1);
  EXPECT_EQ(Place(300, 10), Outcome::kLate);
  // Half of it is late.
  EXPECT_EQ(Place(kBlockSamples - 5, 10), Outcome::kLate);
  placement_.End(std::nullopt);
  EXPECT_EQ(Lost(), static_cast<uint64_t>(2 * kBlockSamples - 256 - 5));
  ExpectRight();
}

TEST_F(PlacementTest, WhatIsFarAheadIsNotBelieved) {
  Place(0, 256);
  const auto far = static_cast<int64_t>(Placement::kMostAhead);
  EXPECT_EQ(Place((far + 1) * kBlockSamples, 1), Outcome::kFarAhead);
  EXPECT_EQ(Place((int64_t{1} << 45) * kBlockSamples, 1), Outcome::kFarAhead);
  EXPECT_EQ(Place(256, 256), Outcome::kTaken);
  EXPECT_EQ(placement_.newest(), 512);
  placement_.End((int64_t{1} << 45) * kBlockSamples);  // nor such an end
  EXPECT_EQ(blocks_, 1u);
  EXPECT_EQ(Lost(), 0u);
}

TEST_F(PlacementTest, ABlockHasSoManyPartsAtMost) {
  Ranges ranges;
  for (size_t i = 0; i < Ranges::kMost; ++i) {
    ASSERT_EQ(ranges.Add({2 * i, 2 * i + 1}), Ranges::Added::kAdded);
  }
  EXPECT_EQ(ranges.Add({2 * Ranges::kMost, 2 * Ranges::kMost + 1}), Ranges::Added::kTooMany);
  EXPECT_EQ(ranges.Add({1, 2}), Ranges::Added::kAdded);
  EXPECT_EQ(ranges.Gaps(6).size(), 2u);
}

TEST_F(PlacementTest, TheEndTellsHowLongTheStreamWas) {
  Place(0, 256);
  EXPECT_FALSE(placement_.IsWhole(300));
  placement_.End(300);
  ASSERT_EQ(given_.size(), 1u);
  EXPECT_EQ(given_[0].samples.size(), 300u);
  EXPECT_THAT(given_[0].gaps, ElementsAre(Range{1024, 1200}));
}

TEST_F(PlacementTest, ALastBlockOfWhichNothingCameIsThere) {
  for (int64_t at = 0; at < kBlockSamples; at += 256) Place(at, 256);
  EXPECT_TRUE(placement_.IsWhole(kBlockSamples));
  placement_.End(3 * kBlockSamples + 7);
  EXPECT_EQ(blocks_, 4u);
  EXPECT_EQ(given_.back().samples, std::vector<uint32_t>(7, 0));
  EXPECT_EQ(Lost(), static_cast<uint64_t>(2 * kBlockSamples + 7));
}

TEST_F(PlacementTest, ThereMayBeNoSlot) {
  std::vector<dataplane::Block> held;
  while (auto slot = pool_->Take()) held.push_back(*std::move(slot));
  EXPECT_EQ(Place(0, 256), Outcome::kUnwanted);
  placement_.End(std::nullopt);
  EXPECT_TRUE(given_.empty());
}

// What came and what is named as lost are all of the stream, whatever the network does.
TEST_F(PlacementTest, NothingIsCountedTwiceOrForgotten) {
  std::mt19937_64 random(1);
  constexpr int64_t kCount = 96;
  constexpr int64_t kPackets = 2000;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < kPackets; ++i) {
    if (i > 0 && random() % 8 == 0) i += static_cast<int64_t>(random() % 40);
    order.push_back(i);
    if (random() % 8 == 0) order.push_back(i);
    if (order.size() > 2 && random() % 4 == 0) std::swap(order.back(), order[order.size() - 2]);
  }
  for (const int64_t packet : order) {
    if (packet < kPackets) Place(packet * kCount, kCount);
  }
  placement_.End(kPackets * kCount);
  EXPECT_EQ(placement_.taken() + Lost(), static_cast<uint64_t>(kPackets * kCount));
  EXPECT_GT(Lost(), 0u);
  ExpectRight();
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::ingest
