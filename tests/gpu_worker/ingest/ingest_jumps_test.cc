#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "gpu_worker/stages/ingest/jumps.h"

namespace tapedeck::gpu_worker::stages::ingest {
namespace {

struct HandClock final : dataplane::Clock {
  int64_t NowNs() const override { return now_ns; }
  int64_t WallNs() const override { return now_ns; }
  int64_t now_ns = dataplane::kSecondNs;
};

class JumpsTest : public testing::Test {
 protected:
  static constexpr size_t kBlock = 4096;
  static constexpr size_t kSample = 4;
  static constexpr int64_t kBlockSamples = kBlock / kSample;
  static constexpr int64_t kPacket = 256;
  static constexpr double kRate = 256'000;  // a packet each millisecond
  static constexpr int64_t kFar = 65'000 * kBlockSamples;

  JumpsTest()
      : pool_(dataplane::MemoryPool::Create(dataplane::host::Create(8 * kBlock).value(), kBlock)
                  .value()),
        placement_({.block_bytes = kBlock,
                    .sample_bytes = kSample,
                    .take = [this] { return pool_->Take(); },
                    .give = [this](const Placed& placed) { Keep(placed); }}),
        jumps_(
            {.block_samples = kBlockSamples,
             .sample_bytes = kSample,
             .sample_rate = kRate,
             .counts = counts_,
             .restarted = [this](uint64_t position, int64_t told) { restarts_[position] = told; }},
            placement_, clock_) {}

  void Keep(const Placed& placed) {
    missing_ += static_cast<int64_t>(placed.missing_blocks) * kBlockSamples;
    for (const Range& gap : placed.gaps) missing_ += static_cast<int64_t>(gap.size() / kSample);
  }

  void Place(int64_t position) {
    const std::vector<std::byte> samples(kPacket * kSample, std::byte{1});
    jumps_.CaughtUp();
    jumps_.Place(position, samples);
  }

  // Packets a millisecond apart from each other.
  void Stream(int64_t from, int64_t to) {
    for (int64_t at = from; at < to; at += kPacket) {
      clock_.now_ns += dataplane::kMillisecondNs;
      Place(at);
    }
  }

  HandClock clock_;
  const std::shared_ptr<dataplane::MemoryPool> pool_;
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  std::map<uint64_t, int64_t> restarts_;
  int64_t missing_ = 0;
  Placement placement_;
  Jumps jumps_;
};

TEST_F(JumpsTest, AForgedPacketLosesNothing) {
  for (int64_t ahead : {2 * kBlockSamples, 20 * kBlockSamples, kFar, int64_t{1} << 50}) {
    const int64_t begin = placement_.newest();
    Stream(begin, begin + 6 * kBlockSamples);
    Place(placement_.newest() + ahead);
    Place(placement_.newest() + ahead);  // the same once more agrees with nothing
    Stream(placement_.newest(), begin + 32 * kBlockSamples);
  }
  jumps_.Finish();
  EXPECT_EQ(placement_.taken(), 4u * 32 * kBlockSamples);
  EXPECT_EQ(missing_, 0);
  EXPECT_EQ(counts_->late, 0u);
  EXPECT_GE(counts_->out_of_place, 4u);
}

// Two agree, and yet so much cannot have been sent meanwhile.
TEST_F(JumpsTest, NoMoreIsMissingThanTheRateAllows) {
  Stream(0, 8 * kBlockSamples);
  Place(kFar);
  Place(kFar + kPacket);
  EXPECT_EQ(counts_->out_of_place, 2u);
  Stream(8 * kBlockSamples, 16 * kBlockSamples);
  EXPECT_EQ(missing_, 0);
  EXPECT_EQ(placement_.taken(), 16u * kBlockSamples);
}

TEST_F(JumpsTest, TwoThatAgreeAreAGap) {
  Stream(0, 4 * kBlockSamples);
  Stream(40 * kBlockSamples, 60 * kBlockSamples);
  EXPECT_EQ(missing_, 36 * kBlockSamples);
  EXPECT_EQ(placement_.taken(), 24u * kBlockSamples);
  EXPECT_EQ(counts_->out_of_place, 0u);
}

TEST_F(JumpsTest, TwoThatOvertookEachOtherAgreeToo) {
  Stream(0, 4 * kBlockSamples);
  Place(40 * kBlockSamples + kPacket);
  Place(40 * kBlockSamples);
  Stream(40 * kBlockSamples + 2 * kPacket, 60 * kBlockSamples);
  EXPECT_EQ(missing_, 36 * kBlockSamples);
  EXPECT_EQ(placement_.taken(), 24u * kBlockSamples);
}

TEST_F(JumpsTest, AfterASilenceOneIsEnough) {
  Stream(0, 4 * kBlockSamples);
  clock_.now_ns += 10 * dataplane::kSecondNs;
  const int64_t later = 4 * kBlockSamples + static_cast<int64_t>(10 * kRate);
  Place(later);
  EXPECT_EQ(placement_.newest(), later + kPacket);
  EXPECT_EQ(counts_->out_of_place, 0u);
}

TEST_F(JumpsTest, ThePacketBeforeTheEndIsBelieved) {
  Stream(0, 4 * kBlockSamples);
  Place(20 * kBlockSamples);
  EXPECT_EQ(jumps_.EndAt(20 * kBlockSamples + kPacket), 20 * kBlockSamples + kPacket);
  EXPECT_EQ(placement_.newest(), 20 * kBlockSamples + kPacket);
  EXPECT_EQ(jumps_.EndAt(kFar), placement_.newest());
}

TEST_F(JumpsTest, TheLastPacketOfAllIsBelieved) {
  Stream(0, 4 * kBlockSamples);
  Place(20 * kBlockSamples);
  jumps_.Finish();
  EXPECT_EQ(placement_.newest(), 20 * kBlockSamples + kPacket);
}

// Its time goes on, and what its count was is told.
TEST_F(JumpsTest, ASenderThatCountsAnewGoesOn) {
  for (const int64_t anew : {int64_t{-1'000'000'000}, int64_t{0}, int64_t{1} << 50}) {
    const int64_t before = placement_.newest();
    Stream(jumps_.SoFarNow().newest, jumps_.SoFarNow().newest + 8 * kBlockSamples);
    Stream(anew, anew + static_cast<int64_t>(2 * kRate));
    const int64_t passed = placement_.newest() - before;
    EXPECT_NEAR(static_cast<double>(passed), 8 * kBlockSamples + 2 * kRate, 2 * kPacket);
  }
  EXPECT_EQ(counts_->restarts, 3u);
  EXPECT_EQ(restarts_.size(), 3u);
  EXPECT_LE(missing_, static_cast<int64_t>(3 * (kRate + 2 * kPacket)));
}

// While the true ones come, no other count is begun.
TEST_F(JumpsTest, StrangersBesideTheStreamMoveNothing) {
  for (int64_t at = 0; at < 3000 * kPacket; at += kPacket) {
    Stream(at, at + kPacket);
    Place((int64_t{1} << 50) + at);
    Place(at - (int64_t{1} << 50));
  }
  EXPECT_EQ(counts_->restarts, 0u);
  EXPECT_EQ(missing_, 0);
  EXPECT_EQ(placement_.taken(), 3000u * kPacket);
}

// The worker stands still, as while no storage node answers, and the sender does not.
TEST_F(JumpsTest, WhatIsLostInAStallIsAGapAtTheRateThatCameBefore) {
  constexpr int64_t kPackets = 4000;
  for (int64_t i = 0; i < kPackets; ++i) {
    clock_.now_ns += dataplane::kMillisecondNs / 4;  // four times the channel's rate
    Place(i * kPacket);
  }
  clock_.now_ns += 20 * dataplane::kSecondNs;
  const int64_t after = (kPackets + 4 * 1000 * 20) * kPacket;
  const std::vector<std::byte> samples(kPacket * kSample, std::byte{1});
  jumps_.Place(after, samples);  // what came meanwhile is still to be read
  jumps_.Place(after + kPacket, samples);
  EXPECT_EQ(placement_.newest(), after + 2 * kPacket);
  EXPECT_EQ(counts_->out_of_place, 0u);
  EXPECT_THAT(restarts_, testing::IsEmpty());
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::ingest
