// What a peer that holds a session's connection can make this end remember: each of it has a bound,
// and whoever goes beyond loses the link.
#include <gtest/gtest.h>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/transfer/link.h"
#include "dataplane/transfer/receiver.h"
#include "dataplane/transfer/sender.h"
#include "dataplane/transport/inproc/transport.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::dataplane {
namespace {

using storage_node::ManualExecutor;

constexpr uint64_t kBlockBytes = 64 << 10;
constexpr size_t kSlots = 8;

// The peer says what it likes; what comes back does not interest it.
class RawPeer final : public ConnectionEvents {
 public:
  void OnFrame(const Frame&, std::span<std::byte>) override {}
  void OnCompleted(uint64_t) override {}
  void OnClosed(const absl::Status&) override { connection = nullptr; }

  void Say(Frame frame) {
    if (connection == nullptr) return;
    frame.number = next++;
    connection->Send(frame, {}, 0);
  }
  void SayBlock(uint64_t sequence, uint32_t payload_bytes) {
    Frame frame{.type = FrameType::kBlock};
    frame.block = {.sequence = sequence, .payload_bytes = payload_bytes};
    if (payload_bytes == 0) frame.block.flags = kBlockMissing;
    Say(frame);
  }

  Connection* connection = nullptr;
  uint32_t next = 0;
};

// A link of a session and its raw peer, in one process and on virtual time. The link's poller and
// its session have executors of their own, so that one can be ahead of the other.
class HostilePeerTest : public testing::Test {
 protected:
  ~HostilePeerTest() override {
    link_.reset();
    Run();
    connection_.reset();
  }

  void ConnectTo(LinkEvents* mover) {
    link_ = std::make_unique<Link>(session_, *near_, near_domain_, 0, 0, mover);
    link_->MakeOffer([this](absl::StatusOr<Endpoint> endpoint) {
      offer_->Connect(*endpoint, kSecondNs, &peer_, [this](auto connection) {
        connection_ = *std::move(connection);
        peer_.connection = connection_.get();
      });
      link_->Connect(offer_->endpoint(), far_domain_->remote_window(), kSecondNs);
    });
    Run();
    ASSERT_TRUE(link_->up());
  }

  void Run() {
    for (int i = 0; i < 20; ++i) {
      poller_.RunReady();
      session_.RunReady();
    }
  }

  ManualExecutor poller_{absl::ZeroDuration()};
  ManualExecutor session_{absl::ZeroDuration()};
  std::shared_ptr<inproc::Fabric> fabric_ = std::make_shared<inproc::Fabric>();
  std::unique_ptr<Transport> near_ = inproc::Create("r0", poller_, fabric_);
  std::unique_ptr<Transport> far_ = inproc::Create("r0", poller_, fabric_);
  std::shared_ptr<MemoryPool> ring_ =
      *MemoryPool::Create(*host::Create(kSlots * kBlockBytes), kBlockBytes);
  std::shared_ptr<Domain> near_domain_ = *near_->OpenDomain(ring_->window(), RemoteAccess::kNone);
  std::unique_ptr<Memory> far_memory_ = *host::Create(kBlockBytes);
  std::unique_ptr<Domain> far_domain_ =
      *far_->OpenDomain(far_memory_->window(), RemoteAccess::kRead);
  std::unique_ptr<Offer> offer_ = *far_domain_->NewOffer(0);
  RawPeer peer_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Link> link_;
};

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
