// What passes between a session and its pollers: many frames in one task, and the check values of
// what arrived, which a poller has computed.
#include "dataplane/transfer/link.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dataplane/crc/crc32c.h"
#include "dataplane/transfer/link_port.h"
#include "dataplane/transfer/receiver.h"
#include "tests/dataplane/raw_peer.h"

namespace tapedeck::dataplane {
namespace {

static_assert(LaneDepth(1 << 20, 1) == 8);
static_assert(LaneDepth(1 << 20, 4) == 8);
static_assert(LaneDepth(1 << 20, 8) == 4);
static_assert(LaneDepth(1 << 20, 64) == 2, "with one a link is idle while its slot is on the way");
static_assert(LaneDepth(64 << 10, 2) == kMaxLaneDepth);
static_assert(LaneDepth(64 << 10, 16) == 32);
static_assert(LaneDepth(8 << 20, 2) == 4);

using BatchTest = LinkToRawPeer;

TEST_F(BatchTest, SmallFramesOfATurnCrossInOneTask) {
  Receiver receiver(session_, TransferOp::kSend, ring_);
  ConnectTo(&receiver);
  for (uint64_t i = 0; i < 100; ++i) peer_.SayBlock(i, 0);
  session_.posts = 0;
  poller_.RunReady();
  EXPECT_EQ(session_.posts, 1);
  poller_.posts = 0;
  session_.RunReady();
  EXPECT_EQ(receiver.received_watermark(), 100u);
  EXPECT_EQ(poller_.posts, 1) << "word of the arrival of each";
}

TEST_F(BatchTest, WhatStandsForMuchPayloadDoesNotWait) {
  int handed = 0;
  Batch<int> batch(
      session_, [&](const std::vector<int>& items) { handed += static_cast<int>(items.size()); });
  batch.Add(1, 0);
  batch.Add(2, kBatchBytes - 1);
  EXPECT_EQ(handed, 0);
  batch.Add(3, 1);
  EXPECT_EQ(handed, 3);
  batch.Add(4, 1);
  session_.RunReady();
  EXPECT_EQ(handed, 4);
  batch.Add(5, 1);
  batch.Flush();
  EXPECT_EQ(handed, 5);
  session_.RunReady();
  EXPECT_EQ(handed, 5);
}

// Closing is asked for after the last words of a session, and must not overtake them.
TEST_F(BatchTest, WhatWasSaidBeforeTheEndIsHeard) {
  Receiver receiver(session_, TransferOp::kWrite, ring_);
  ConnectTo(&receiver);
  const size_t before = peer_.granted.size();
  link_->GrantWrite({.type = FrameType::kGrant, .slot = 7}, ring_->window().bytes.first(1));
  link_->Close(absl::CancelledError("enough"));
  Run();
  ASSERT_EQ(peer_.granted.size(), before + 1);
  EXPECT_EQ(peer_.granted.back(), 7u);
}

using SilentPeerTest = LinkToRawPeer;

// Nothing is under way whose deadline could end the link.
TEST_F(SilentPeerTest, IsGivenUpAfterThreeSeconds) {
  Receiver receiver(session_, TransferOp::kSend, ring_);
  ConnectTo(&receiver);
  const int64_t begun_ns = poller_.clock().NowNs();
  const auto passed_ns = [&] { return poller_.clock().NowNs() - begun_ns; };
  EXPECT_TRUE(poller_.RunUntil([&] {
    Run();
    return !link_->up() || passed_ns() > 20 * kSecondNs;
  }));
  EXPECT_FALSE(link_->up());
  EXPECT_EQ(link_->last_failure().code(), absl::StatusCode::kUnavailable) << link_->last_failure();
  EXPECT_GE(passed_ns(), kLinkSilenceNs);
  EXPECT_LE(passed_ns(), kLinkSilenceNs + kLinkPingNs);
}

class ArrivalTest : public LinkToRawPeer {
 protected:
  // The peer's block, which lies in its window, as far as the poller.
  void Arrive(TransferOp op) {
    ConnectTo(receiver_.get(), arrivals_);
    std::ranges::fill(far_memory_->window().bytes, std::byte{7});
    Frame frame{.type = FrameType::kBlock};
    frame.block = {.payload_bytes = kBlockBytes, .crc32c = Crc32c(far_memory_->window().bytes)};
    frame.number = peer_.next++;
    const std::span<const std::byte> payload = far_memory_->window().bytes;
    switch (op) {
      case TransferOp::kSend:
        peer_.connection->Send(frame, payload, 1);
        break;
      case TransferOp::kWrite: {
        frame.slot = peer_.granted.back();
        const RemoteWindow window = near_domain_->remote_window();
        peer_.connection->Write(
            frame, payload,
            {.address = window.address + frame.slot * kBlockBytes, .key = window.key}, 1);
        break;
      }
      case TransferOp::kRead:
        peer_.connection->Send(frame, {}, 0);
        poller_.RunReady();
        session_.RunReady();
        break;
    }
    poller_.RunReady();
  }

  const std::shared_ptr<ArrivalCrcs> arrivals_ = std::make_shared<ArrivalCrcs>(kBlockBytes / 16);
  std::unique_ptr<Receiver> receiver_;
};

class ArrivalOfAnyOp : public ArrivalTest, public testing::WithParamInterface<TransferOp> {};

// Whatever becomes of the bytes afterwards: the session does not look at them.
TEST_P(ArrivalOfAnyOp, ThePollerComputesTheCheckValues) {
  receiver_ = std::make_unique<Receiver>(session_, GetParam(), ring_);
  Arrive(GetParam());
  std::ranges::fill(ring_->window().bytes, std::byte{9});
  session_.RunReady();
  Block block;
  ASSERT_EQ(*receiver_->Pull(&block), Flow::kMoved);
  uint32_t crc = 0;
  arrivals_->Compute(block.payload(), [&](absl::StatusOr<uint32_t> computed) { crc = *computed; });
  EXPECT_EQ(crc, block.header().crc32c);
  const PieceCrcs pieces = arrivals_->Take(block.payload());
  EXPECT_EQ(pieces.size(), 16u);
  EXPECT_EQ(pieces[15], Crc32c(far_memory_->window().bytes.first(kBlockBytes / 16)));
}

INSTANTIATE_TEST_SUITE_P(Ops, ArrivalOfAnyOp,
                         testing::Values(TransferOp::kRead, TransferOp::kWrite, TransferOp::kSend));

TEST(GrowingCrcs, AreTheSameInWhateverPartsThePayloadComes) {
  std::vector<std::byte> payload(10'000);
  for (size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i * 7);
  for (const uint32_t piece_bytes : {uint32_t{4096}, uint32_t{10'000}, ArrivalCrcs::kWhole}) {
    for (const size_t part : {1, 100, 4096, 5000, 10'000}) {
      GrowingCrcs crcs(piece_bytes);
      for (size_t at = 0; at < payload.size(); at += part) {
        crcs.Add(std::span(payload).subspan(at, std::min(part, payload.size() - at)));
      }
      EXPECT_EQ(crcs.pieces(), CrcOfPieces(payload, piece_bytes)) << part;
      EXPECT_EQ(JoinPieces(crcs.pieces(), payload.size(), piece_bytes), Crc32c(payload));
    }
  }
}

// A peer may write more than it then says that a block has, or into another place.
TEST(ArrivingPayload, IsCheckedAsItIsAndNotAsMuchAsCame) {
  const std::vector<std::byte> memory(40'000, std::byte{3});
  const std::span<const std::byte> payload = std::span(memory).first(10'000);
  const SystemClock clock;
  ArrivingPayload arriving(4096, clock);
  const PieceCrcs right = CrcOfPieces(payload, 4096);
  arriving.Add(std::span(memory).first(6000));
  EXPECT_EQ(arriving.Complete(payload).pieces, right) << "the rest had not come";
  arriving.Add(memory);
  EXPECT_EQ(arriving.Complete(payload).pieces, right) << "more had come";
  arriving.Add(std::span(memory).subspan(20'000, 10'000));
  EXPECT_EQ(arriving.Complete(payload).pieces, right) << "it had come elsewhere";
  arriving.Add(memory);
  EXPECT_EQ(arriving.Complete({}).pieces, PieceCrcs()) << "nobody was told of it";
  EXPECT_EQ(arriving.Complete(payload).pieces, right) << "and it is forgotten";
}

TEST(ArrivalCrcs, AreOfOneArrivalOnly) {
  std::vector<std::byte> payload(4096, std::byte{1});
  const uint32_t first = Crc32c(payload);
  ArrivalCrcs arrivals;
  const auto compute = [&] {
    uint32_t crc = 0;
    arrivals.Compute(payload, [&](absl::StatusOr<uint32_t> computed) { crc = *computed; });
    return crc;
  };
  arrivals.Arrived(payload, CrcOfPieces(payload, arrivals.piece_bytes()), nullptr, 5);
  payload[0] = std::byte{2};
  EXPECT_EQ(compute(), first);
  EXPECT_EQ(compute(), Crc32c(payload)) << "once compared, it is computed anew";
  EXPECT_EQ(arrivals.Take(payload), PieceCrcs{Crc32c(payload)});
  EXPECT_EQ(arrivals.Take(payload), PieceCrcs{Crc32c(payload)}) << "of what nobody has checked";
}

TEST(ArrivalCrcs, TheBusiestPollerCounts) {
  const std::vector<std::byte> payload(64);
  ArrivalCrcs arrivals;
  const CountingExecutor one, other;
  arrivals.Arrived(payload, {1}, &one, 10);
  arrivals.Arrived(payload, {1}, &other, 15);
  arrivals.Arrived(payload, {1}, &one, 10);
  EXPECT_EQ(arrivals.busy_ns(), 20);
}

}  // namespace
}  // namespace tapedeck::dataplane
