// The Sender is the Sink at the sending end of a session. It stripes blocks over the links and
// keeps each until the peer has acknowledged it. If a link fails, it sends the blocks of unknown
// fate again over other links.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "dataplane/block/sequence_mark.h"
#include "dataplane/block/sink.h"
#include "dataplane/executor/executor.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/transfer/counters.h"
#include "dataplane/transfer/link.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane {

struct SenderSettings {
  TransferOp op = TransferOp::kRead;
  // Slots of the receiver. The sender never runs further ahead of the lowest block that has not
  // arrived, so that the slot it needs cannot be held by later ones.
  uint32_t peer_slots = 0;
  // Bytes between two slots of this end's window, for READ.
  uint64_t slot_bytes = 0;
  flight::Trail trail;
  uint64_t first = 0;  // the receiver has, or never needs, all below
  uint64_t given = 0;  // below are some that it may have from an earlier sender
};

// What a sender waits for, if for anything.
struct SenderState {
  enum class Waiting { kNothing, kLanes, kGrants };
  Waiting waiting = Waiting::kNothing;  // with blocks that no link carries: no room, or no grant
  size_t held = 0;                      // blocks in slots of this end
  size_t in_flight = 0;                 // of those, on links
  // Carries the lowest block that has not arrived; null: none is on its way.
  Link* lowest = nullptr;
  bool lowest_alone =
      false;  // and it carries all but a few of those in flight, and is not the only
};

// How long blocks were on their way, over all links.
struct TransitMeter {
  uint64_t blocks = 0;
  int64_t sum_ns = 0;
  int64_t least_ns = 0;
  int64_t busy_ns = 0;  // some were under way, added up over the links
};

// Blocks without payload that are held at the same time: they take no slot, so nothing else bounds
// them. Fewer would make the gaps of a damaged recording wait for acknowledgements.
inline constexpr size_t kMaxMissingHeld = 1024;

// On the session's executor.
class Sender final : public Sink, public LinkEvents {
 public:
  Sender(Executor& executor, const SenderSettings& settings)
      : executor_(executor),
        settings_(settings),
        pushed_(std::max(settings.first, settings.given)),
        acked_(settings.first) {
    arrived_.AddBelow(settings.first);
  }

  // Sink. A block with a sequence outside the window waits with the caller.
  absl::StatusOr<Flow> Push(Block* block) override;
  absl::StatusOr<Flow> Finish(const absl::Status& cause) override;
  void SetWaker(Waker waker) override { waker_ = std::move(waker); }
  // All three levels are what the peer has acknowledged, at the session's commit level.
  Watermarks watermarks() const override { return {acked_, acked_, acked_}; }

  // LinkEvents.
  void OnLinkUp(Link& link) override;
  void OnLinkDown(Link& link, const absl::Status& cause) override;
  void OnLinkFrame(Link& link, const Frame& frame, std::span<std::byte> payload) override;
  void OnLinkCompleted(Link& link, uint64_t work) override;

  const Counters& counters() const { return counters_; }
  const TransitMeter& transit() const { return transit_; }
  SenderState state() const;

  // Once every link is down for good: the blocks that the peer has not acknowledged, in order.
  std::vector<Block> TakeUnacknowledged();

 private:
  // A block from Push until it is acknowledged and this end's memory is free of it.
  struct PendingBlock {
    Block block;
    Link* link = nullptr;  // that carries it; null while it waits
    int64_t since_ns = 0;  // when it was pushed
    bool sent_before = false;
    bool received = false;
    bool acked = false;
    bool local_busy = false;  // the connection still reads the slot
  };

  // What the sender knows of one link that is up.
  struct Lane {
    Link* link = nullptr;
    std::vector<uint32_t>
        grants;  // slots of the receiver (WRITE); only their number counts for SEND
    uint64_t inflight_bytes = 0;
    uint32_t inflight_blocks = 0;
    uint64_t sent_blocks = 0;
    // Rate while busy, exponentially weighted.
    double bytes_per_ns = 0;
    int64_t busy_since_ns = 0;
    int64_t window_ns = 0;
    uint64_t window_bytes = 0;
  };

  using PendingBlocks = std::map<uint64_t, PendingBlock>;

  void Dispatch();
  Lane* ChooseLane(uint64_t bytes);
  double PredictedFinish(const Lane& lane, uint64_t bytes, double fastest) const;
  bool HasRoom(const Lane& lane) const;
  // What the lane has under way and may have more, for the trail.
  uint64_t LoadOf(const Lane& lane) const;
  void Send(Lane& lane, uint64_t sequence, PendingBlock& held);
  absl::Status OnGrant(Lane& lane, uint32_t slot) const;
  void OnReceived(Lane& lane, uint64_t sequence);
  absl::Status OnAck(uint64_t watermark);
  void OnResend(uint64_t sequence);
  void Requeue(uint64_t sequence, PendingBlock& held);
  void Measure(Lane& lane, uint64_t bytes, int64_t since_ns);
  void Release(PendingBlocks::iterator it);
  void Wake();

  Executor& executor_;
  const SenderSettings settings_;
  Waker waker_;
  std::map<size_t, Lane> lanes_;  // by link index; only links that are up
  PendingBlocks held_;            // by sequence
  std::set<uint64_t> waiting_;    // sequences of held_ that no link carries
  SequenceMark arrived_;          // at the receiver
  uint64_t pushed_;               // one more than the highest sequence that was pushed
  uint64_t acked_;
  uint64_t choices_ = 0;
  size_t missing_held_ = 0;  // of held_, without payload
  Counters counters_;
  TransitMeter transit_;
};

}  // namespace tapedeck::dataplane
