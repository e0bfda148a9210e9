// What a peer that holds a session's connection can make this end remember: each of it has a bound,
// and whoever goes beyond loses the link.
#include <gtest/gtest.h>

#include "dataplane/transfer/receiver.h"
#include "dataplane/transfer/sender.h"
#include "tests/dataplane/raw_peer.h"

namespace tapedeck::dataplane {
namespace {

using HostilePeerTest = LinkToRawPeer;

TEST_F(HostilePeerTest, AnnouncesFewBlocks) {
  Receiver receiver(session_, TransferOp::kRead, ring_);
  ConnectTo(&receiver);
  for (uint64_t i = 0; i < kMaxLaneDepth; ++i) peer_.SayBlock(i, kBlockBytes);
  Run();
  EXPECT_TRUE(link_->up());
  for (uint64_t i = kMaxLaneDepth; i < 600; ++i) peer_.SayBlock(i, kBlockBytes);
  Run();
  EXPECT_FALSE(link_->up());
  EXPECT_EQ(link_->last_failure().code(), absl::StatusCode::kResourceExhausted)
      << link_->last_failure();
}

TEST_F(HostilePeerTest, SendsNothingFarAhead) {
  Receiver receiver(session_, TransferOp::kSend, ring_);
  ConnectTo(&receiver);
  peer_.SayBlock(5000, 0);
  Run();
  EXPECT_TRUE(link_->up());
  peer_.SayBlock(10'000, 0);
  Run();
  EXPECT_EQ(link_->last_failure().code(), absl::StatusCode::kInvalidArgument)
      << link_->last_failure();
}

// They take no slots, and here nobody takes them.
TEST_F(HostilePeerTest, SendsFewMissingBlocksBeforeTheyAreTaken) {
  Receiver receiver(session_, TransferOp::kSend, ring_);
  ConnectTo(&receiver);
  for (uint64_t i = 0; i < 20'000; ++i) {
    peer_.SayBlock(i, 0);
    if (i % 1000 == 0) Run();
  }
  Run();
  EXPECT_FALSE(link_->up());
  EXPECT_LT(receiver.received_watermark(), 10'000u);
}

TEST_F(HostilePeerTest, GrantsFewSlots) {
  Sender sender(session_,
                {.op = TransferOp::kWrite, .peer_slots = 1 << 20, .slot_bytes = kBlockBytes});
  ConnectTo(&sender);
  for (uint32_t i = 0; i < kMaxLaneDepth; ++i) peer_.Say({.type = FrameType::kGrant, .slot = i});
  Run();
  EXPECT_TRUE(link_->up());
  for (uint32_t i = 0; i < 600; ++i) peer_.Say({.type = FrameType::kGrant, .slot = i});
  Run();
  EXPECT_FALSE(link_->up());
}

TEST_F(HostilePeerTest, HoldsUpFewMissingBlocks) {
  Sender sender(session_,
                {.op = TransferOp::kWrite, .peer_slots = 1 << 20, .slot_bytes = kBlockBytes});
  ConnectTo(&sender);
  uint64_t pushed = 0;
  for (; pushed < 5000; ++pushed) {
    Block block = Block::Missing({.sequence = pushed, .flags = kBlockMissing});
    if (*sender.Push(&block) != Flow::kMoved) break;
  }
  EXPECT_EQ(pushed, kMaxMissingHeld);
  Frame ack{.type = FrameType::kAck};
  ack.block.sequence = 10;
  peer_.Say(ack);
  Run();
  Block next = Block::Missing({.sequence = pushed, .flags = kBlockMissing});
  EXPECT_EQ(*sender.Push(&next), Flow::kMoved);
}

// The poller is faster than the session.
TEST_F(HostilePeerTest, SendsFewFramesBeforeTheyAreLookedAt) {
  Receiver receiver(session_, TransferOp::kSend, ring_);
  ConnectTo(&receiver);
  for (int i = 0; i < 6000; ++i) peer_.SayBlock(0, 0);
  poller_.RunReady();
  Run();
  EXPECT_TRUE(link_->up()) << link_->last_failure();
  for (int i = 0; i < 12'000; ++i) peer_.SayBlock(0, 0);
  poller_.RunReady();
  Run();
  EXPECT_FALSE(link_->up());
  EXPECT_EQ(link_->last_failure().code(), absl::StatusCode::kResourceExhausted)
      << link_->last_failure();
  EXPECT_LT(receiver.counters().duplicate_blocks, 6000 + 9000u);
}

}  // namespace
}  // namespace tapedeck::dataplane
