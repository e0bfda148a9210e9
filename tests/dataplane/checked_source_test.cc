#include "dataplane/transfer/checked_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "dataplane/crc/crc32c.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/transfer/arrival_crcs.h"

namespace tapedeck::dataplane {
namespace {

constexpr size_t kBytes = 4096;

// Gives blocks 0 to n-1, then those that were rejected, again.
class ListSource final : public Source {
 public:
  explicit ListSource(uint64_t blocks) {
    for (uint64_t i = 0; i < blocks; ++i) due_.push_back(i);
  }

  absl::StatusOr<Flow> Pull(Block* block) override {
    if (due_.empty()) return Flow::kEnd;
    *block = *pool->Take();
    std::ranges::fill(block->memory(), static_cast<std::byte>(due_.front()));
    block->header() = {.sequence = due_.front(), .payload_bytes = kBytes};
    block->header().crc32c = Crc32c(block->payload());
    if (due_.front() == damaged || all_damaged) block->memory()[9] ^= std::byte{1};
    due_.erase(due_.begin());
    return Flow::kMoved;
  }
  void SetWaker(Waker) override {}
  void Acknowledge(uint64_t) override {}
  absl::Status Reject(const BlockHeader& header) override {
    rejected.push_back(header.sequence);
    if (heals) damaged = UINT64_MAX;
    due_.push_back(header.sequence);
    return absl::OkStatus();
  }

  std::shared_ptr<MemoryPool> pool = *MemoryPool::Create(*host::Create(64 * kBytes), kBytes);
  uint64_t damaged = UINT64_MAX;
  bool heals = true;
  bool all_damaged = false;
  std::vector<uint64_t> rejected;

 private:
  std::vector<uint64_t> due_;
};

// Computes when told to, as a device does.
class LaterCrc final : public PayloadCrc {
 public:
  void Compute(std::span<const std::byte> payload, Done done) override {
    started.push_back({payload, std::move(done)});
  }
  void FinishOne(size_t i) {
    auto [payload, done] = std::move(started[i]);
    started.erase(started.begin() + static_cast<std::ptrdiff_t>(i));
    done(status.ok() ? absl::StatusOr<uint32_t>(Crc32c(payload)) : status);
  }

  absl::Status status;
  std::vector<std::pair<std::span<const std::byte>, Done>> started;
};

TEST(CheckedSource, HostPayloadsAreCheckedOnTheWay) {
  ListSource inner(3);
  inner.damaged = 1;
  ArrivalCrcs crc;
  CheckedSource source(inner, crc);
  int wakes = 0;
  source.SetWaker([&] { ++wakes; });
  std::vector<uint64_t> got;
  Block block;
  while (*source.Pull(&block) == Flow::kMoved) got.push_back(block.header().sequence);
  EXPECT_EQ(got, (std::vector<uint64_t>{0, 2, 1}));
  EXPECT_EQ(source.counters().crc_errors, 1u);
  EXPECT_EQ(wakes, 0) << "nobody had to wait";
}

TEST(CheckedSource, GivesABlockOnceTheDeviceHasComputed) {
  ListSource inner(2);
  LaterCrc crc;
  CheckedSource source(inner, crc);
  int wakes = 0;
  source.SetWaker([&] { ++wakes; });
  Block block;
  EXPECT_EQ(*source.Pull(&block), Flow::kNotNow) << "the end is not there while blocks are checked";
  ASSERT_EQ(crc.started.size(), 2u);
  crc.FinishOne(1);
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(*source.Pull(&block), Flow::kMoved);
  EXPECT_EQ(block.header().sequence, 1u);
  EXPECT_EQ(*source.Pull(&block), Flow::kNotNow);
  crc.FinishOne(0);
  EXPECT_EQ(*source.Pull(&block), Flow::kMoved);
  EXPECT_EQ(*source.Pull(&block), Flow::kEnd);
}

TEST(CheckedSource, ABlockFoundDamagedLaterComesAgain) {
  ListSource inner(1);
  inner.damaged = 0;
  LaterCrc crc;
  CheckedSource source(inner, crc);
  source.SetWaker([] {});
  Block block;
  EXPECT_EQ(*source.Pull(&block), Flow::kNotNow);
  crc.FinishOne(0);
  EXPECT_EQ(*source.Pull(&block), Flow::kNotNow);
  EXPECT_EQ(inner.rejected, std::vector<uint64_t>{0});
  crc.FinishOne(0);
  EXPECT_EQ(*source.Pull(&block), Flow::kMoved);
  EXPECT_EQ(*source.Pull(&block), Flow::kEnd);
  EXPECT_EQ(source.counters().crc_errors, 1u);
}

TEST(CheckedSource, GivesUpOnABlockThatWasMadeWrong) {
  ListSource inner(1);
  inner.damaged = 0;
  inner.heals = false;
  ArrivalCrcs crc;
  CheckedSource source(inner, crc);
  Block block;
  EXPECT_EQ(source.Pull(&block).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(source.counters().crc_errors, 3u);
}

// Each is the last one rejected only until another one is.
TEST(CheckedSource, GivesUpOnBlocksThatTakeTurns) {
  ListSource inner(8);
  inner.all_damaged = true;
  ArrivalCrcs crc;
  CheckedSource source(inner, crc);
  Block block;
  EXPECT_EQ(source.Pull(&block).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(source.counters().crc_errors, 17u);
}

TEST(CheckedSource, KeepsOnlySoManyUnderWay) {
  ListSource inner(PayloadCrc::kMaxUnderWay + 5);
  LaterCrc crc;
  CheckedSource source(inner, crc);
  source.SetWaker([] {});
  Block block;
  EXPECT_EQ(*source.Pull(&block), Flow::kNotNow);
  EXPECT_EQ(crc.started.size(), PayloadCrc::kMaxUnderWay);
}

TEST(CheckedSource, AFailedComputationEndsIt) {
  ListSource inner(1);
  LaterCrc crc;
  crc.status = absl::InternalError("launch failed");
  CheckedSource source(inner, crc);
  source.SetWaker([] {});
  Block block;
  EXPECT_EQ(*source.Pull(&block), Flow::kNotNow);
  crc.FinishOne(0);
  EXPECT_EQ(source.Pull(&block).status(), absl::InternalError("launch failed"));
}

TEST(CheckedSource, MayGoBeforeItsComputationsEnd) {
  ListSource inner(2);
  LaterCrc crc;
  {
    CheckedSource source(inner, crc);
    source.SetWaker([] {});
    Block block;
    EXPECT_EQ(*source.Pull(&block), Flow::kNotNow);
  }
  crc.FinishOne(0);
  crc.FinishOne(0);
  EXPECT_EQ(inner.pool->free_slots(), inner.pool->slots());
}

}  // namespace
}  // namespace tapedeck::dataplane
