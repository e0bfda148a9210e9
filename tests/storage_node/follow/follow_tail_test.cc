// What followers get from memory, and that it never costs the recording a slot it needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/time/clock.h"
#include "dataplane/memory/host/memory.h"
#include "storage_node/follow/tail.h"
#include "tests/bytes.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using dataplane::Block;

constexpr size_t kRingSlots = 8;
constexpr size_t kTailBlocks = 4;

class TailTest : public testing::Test {
 protected:
  void SetUp() override {
    // A slab that is ready is given without waiting.
    while (memory_->Take() == nullptr) absl::SleepFor(absl::Milliseconds(1));
  }

  uint64_t Attach(uint64_t next = 0) {
    return tail_->Attach(
        {.executor = &executor_, .block_bytes = kBlockBytes, .memory = memory_, .next = next});
  }
  // The block as the store gets it.
  Block Keep(uint64_t sequence) {
    Block block = *ring_->Take();
    PutBytes(Payload(sequence, kBlockBytes), block.memory());
    block.header() = {.sequence = sequence,
                      .sample_index = sequence * 10,
                      .capture_ns = 7,
                      .payload_bytes = kBlockBytes,
                      .crc32c = 5};
    return tail_->Keep(std::move(block), kRingSlots);
  }
  // Stored and copied.
  void KeepAll(uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; ++i) {
      Keep(i).Reset();
      executor_.RunReady();
    }
  }
  bool Finds(uint64_t follower, uint64_t sequence) {
    const auto kept = tail_->Find(follower, sequence);
    if (kept == nullptr) return false;
    EXPECT_EQ(kept->header().sequence, sequence);
    EXPECT_TRUE(SameBytes(kept->payload(), Payload(sequence, kBlockBytes)));
    return true;
  }

  ManualExecutor executor_;
  const std::shared_ptr<dataplane::MemoryPool> ring_ = *dataplane::MemoryPool::Create(
      *dataplane::host::Create(kRingSlots * kBlockBytes), kBlockBytes);
  const std::shared_ptr<follow::TailMemory> memory_ =
      follow::TailMemory::Create(kTailBlocks * kBlockBytes).value();
  const std::shared_ptr<follow::Tail> tail_ = std::make_shared<follow::Tail>();
};

TEST_F(TailTest, KeepsNothingWithoutAFollower) {
  const Block block = Keep(0);
  EXPECT_EQ(block.owner(), ring_.get());
  executor_.RunReady();
  EXPECT_FALSE(Finds(Attach(), 0));
}

TEST_F(TailTest, GivesBytesAndHeaderAsTheyCame) {
  const uint64_t follower = Attach();
  Block block = Keep(3);
  const dataplane::BlockHeader header = block.header();
  EXPECT_EQ(header.sample_index, 30u);
  EXPECT_TRUE(SameBytes(block.payload(), Payload(3, kBlockBytes)));
  executor_.RunReady();
  EXPECT_EQ(ring_->free_slots(), kRingSlots - 1) << "the store still has it";
  block.Reset();
  EXPECT_EQ(ring_->free_slots(), kRingSlots);
  ASSERT_TRUE(Finds(follower, 3));
  EXPECT_EQ(tail_->Find(follower, 3)->header(), header);
}

TEST_F(TailTest, HoldsAStoredSlotForTheCopyWhileTheRingHasEnough) {
  const uint64_t follower = Attach();
  Keep(0).Reset();
  EXPECT_EQ(ring_->free_slots(), kRingSlots - 1);
  executor_.RunReady();
  EXPECT_EQ(ring_->free_slots(), kRingSlots);
  EXPECT_TRUE(Finds(follower, 0));
}

TEST_F(TailTest, AFollowerThatHangsHoldsNoSlotTheRecordingNeeds) {
  const uint64_t follower = Attach();
  std::vector<Block> storing;
  for (uint64_t i = 0; i < kTailBlocks; ++i) Keep(i).Reset();
  EXPECT_EQ(ring_->free_slots(), kRingSlots / 2);
  for (uint64_t i = kTailBlocks; i < kTailBlocks + 4; ++i) storing.push_back(Keep(i - 1));
  EXPECT_EQ(ring_->free_slots(), kRingSlots / 2) << "only what is being stored is out";
  storing.clear();
  EXPECT_EQ(ring_->free_slots(), kRingSlots);
  executor_.RunReady();
  for (uint64_t i = 0; i < kTailBlocks; ++i) EXPECT_FALSE(Finds(follower, i));
}

TEST_F(TailTest, IsBoundedAndLeavesOutWhatCannotBeReached) {
  const uint64_t follower = Attach();
  KeepAll(0, 10);
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(Finds(follower, i), i < kTailBlocks) << i;
  // It has caught up.
  EXPECT_FALSE(Finds(follower, 10));
  KeepAll(10, 14);
  for (uint64_t i = 10; i < 14; ++i) EXPECT_TRUE(Finds(follower, i)) << i;
}

TEST_F(TailTest, BlocksStayForTheSlowerFollowerUntilTheFasterNeedsTheRoom) {
  const uint64_t fast = Attach();
  const uint64_t slow = Attach();
  KeepAll(0, 2);
  for (uint64_t i = 0; i < 2; ++i) EXPECT_TRUE(Finds(fast, i));
  EXPECT_FALSE(Finds(fast, 2));
  for (uint64_t i = 0; i < 2; ++i) EXPECT_TRUE(Finds(slow, i));
  KeepAll(2, 6);
  for (uint64_t i = 2; i < 6; ++i) EXPECT_TRUE(Finds(fast, i)) << i;
  EXPECT_FALSE(Finds(slow, 1)) << "the oldest went first";
  EXPECT_TRUE(Finds(slow, 2));
}

TEST_F(TailTest, GivesNothingOnceSomethingCouldNotBeStored) {
  const uint64_t follower = Attach();
  KeepAll(0, 2);
  const Block under_way = Keep(2);
  tail_->Stop();
  executor_.RunReady();
  for (uint64_t i = 0; i < 3; ++i) EXPECT_FALSE(Finds(follower, i));
  EXPECT_EQ(Keep(3).owner(), ring_.get());
}

TEST_F(TailTest, TheLastFollowerGivesTheMemoryBack) {
  const uint64_t first = Attach();
  const uint64_t second = Attach();
  KeepAll(0, 2);
  EXPECT_EQ(memory_->Take(), nullptr);
  tail_->Detach(first);
  EXPECT_TRUE(Finds(second, 1));
  tail_->Detach(second);
  EXPECT_EQ(Keep(2).owner(), ring_.get());
  EXPECT_NE(memory_->Take(), nullptr);
}

TEST_F(TailTest, MemoryOfACopyOutlivesTheTail) {
  const uint64_t follower = Attach();
  KeepAll(0, 1);
  const auto kept = tail_->Find(follower, 0);
  tail_->Detach(follower);
  EXPECT_TRUE(SameBytes(kept->payload(), Payload(0, kBlockBytes)));
}

// A recording that is followed, whose file loses every block once it is durable, before the
// follower runs: what it gets all the same came from memory.
class FollowFromMemory : public testing::Test {
 protected:
  void Start(uint64_t follow_bytes = 64 << 20) {
    node_.Restart({.follow_bytes = follow_bytes});
    recorder_ = *node_.Record();
    name_ = recorder_->admission.accept.recording;
    player_ = Play({.follow = true});
  }
  services::session::Admission Play(services::model::Playhead playhead) {
    return *node_.Admit({.direction = services::session::Direction::kPlayback,
                         .recording = name_,
                         .playhead = playhead},
                        player_executor_);
  }
  // A block that is durable and then lost.
  void PushAndLose(size_t bytes = kBlockBytes, uint32_t flags = 0) {
    ASSERT_TRUE(recorder_->Push(next_, bytes, flags).ok());
    ++next_;
    ASSERT_TRUE(node_.executor().RunUntil(
        [&] { return recorder_->admission.sink->watermarks().durable == next_; }));
    std::fstream data(node_.Directory(name_) + "/data",
                      std::ios::in | std::ios::out | std::ios::binary);
    data.seekp(static_cast<std::streamoff>((next_ - 1) * kBlockBytes));
    data.write(std::string(kBlockBytes, 'x').data(), kBlockBytes);
    ASSERT_TRUE(data.flush().good());
  }
  std::optional<Block> Next() {
    Block block;
    absl::StatusOr<dataplane::Flow> flow = dataplane::Flow::kNotNow;
    EXPECT_TRUE(player_executor_.RunUntil([&] {
      flow = player_->source->Pull(&block);
      return !flow.ok() || *flow != dataplane::Flow::kNotNow;
    }));
    EXPECT_TRUE(flow.ok()) << flow.status();
    if (!flow.ok() || *flow != dataplane::Flow::kMoved) return std::nullopt;
    return block;
  }
  bool NextIsGood() {
    const auto block = Next();
    if (!block.has_value() || (block->header().flags & dataplane::kBlockMissing) != 0) return false;
    const auto expected = Payload(block->header().sample_index / 1000, kBlockBytes);
    EXPECT_EQ(block->header().crc32c, dataplane::Crc32c(expected));
    EXPECT_TRUE(SameBytes(block->payload(), expected));
    return true;
  }
  // Until the tail has its memory, which another thread makes ready.
  void WarmUp() {
    do {
      ASSERT_LT(next_, 500u) << "no block came from memory";
      PushAndLose();
      absl::SleepFor(absl::Milliseconds(5));
    } while (!NextIsGood());
  }

  ManualExecutor player_executor_;
  NodeFixture node_;
  std::optional<Recorder> recorder_;
  std::optional<services::session::Admission> player_;
  std::string name_;
  uint64_t next_ = 0;
};

TEST_F(FollowFromMemory, GivesWhatTheDiskHasLost) {
  Start();
  WarmUp();
  for (int i = 0; i < 20; ++i) PushAndLose();
  PushAndLose(0, dataplane::kBlockMissing);
  PushAndLose();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(NextIsGood()) << i;
  const auto missing = Next();
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(missing->header().flags, dataplane::kBlockMissing);
  EXPECT_EQ(missing->header().sample_index, (next_ - 2) * 1000);
  EXPECT_TRUE(NextIsGood());
  ASSERT_TRUE(recorder_->Finish().ok());
  EXPECT_FALSE(Next().has_value());
}

TEST_F(FollowFromMemory, WhatItsConsumerRejectsIsReadFromTheDisk) {
  Start();
  WarmUp();
  PushAndLose();
  const auto block = Next();
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(block->header().flags, 0u);
  ASSERT_TRUE(player_->source->Reject(block->header()).ok());
  const auto again = Next();
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->header().sequence, block->header().sequence);
  EXPECT_EQ(again->header().flags, dataplane::kBlockMissing) << "the disk has lost it";
}

TEST_F(FollowFromMemory, WithoutMemoryAllIsReadFromTheDisk) {
  Start(0);
  for (int i = 0; i < 20; ++i) {
    PushAndLose();
    absl::SleepFor(absl::Milliseconds(5));
    EXPECT_FALSE(NextIsGood());
  }
}

TEST_F(FollowFromMemory, ASecondFollowerGetsTheSame) {
  Start();
  WarmUp();
  auto other = Play({.start = 1 << 20, .follow = true});
  for (int i = 0; i < 20; ++i) PushAndLose();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(NextIsGood()) << i;
  std::swap(*player_, other);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(NextIsGood()) << i;
  other = {};
  PushAndLose();
  EXPECT_TRUE(NextIsGood());
}

}  // namespace
}  // namespace tapedeck::storage_node
