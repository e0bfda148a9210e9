// The Receiver is the Source at the receiving end of a session. It offers free slots to the links,
// accepts blocks in any order over any of them, drops duplicates, and tells the sender which have
// arrived.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "dataplane/block/sequence_mark.h"
#include "dataplane/block/source.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/memory/slot_pool.h"
#include "dataplane/transfer/counters.h"
#include "dataplane/transfer/link.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane {

// On the session's executor. Gives blocks in the order they arrive.
class Receiver final : public Source, public LinkEvents {
 public:
  // Blocks below `first` are there, or are not needed.
  Receiver(Executor& executor, TransferOp op, std::shared_ptr<SlotPool> ring,
           flight::Trail trail = {}, uint64_t first = 0);
  ~Receiver() override { ring_->SetWaker(nullptr); }

  // The sender will have sent `blocks` in all; Pull answers kEnd once they have all been given.
  void SetTotal(uint64_t blocks);

  // Source.
  absl::StatusOr<Flow> Pull(Block* block) override;
  void SetWaker(Waker waker) override { waker_ = std::move(waker); }
  void Acknowledge(uint64_t watermark) override;
  absl::Status Reject(const BlockHeader& header) override;

  // LinkEvents.
  void OnLinkUp(Link& link) override;
  void OnLinkDown(Link& link, const absl::Status& cause) override;
  void OnLinkFrame(Link& link, const Frame& frame, std::span<std::byte> payload) override;
  void OnLinkCompleted(Link& link, uint64_t work) override;

  // Every sequence below has arrived.
  uint64_t received_watermark() const { return received_.mark(); }
  // Blocks wait at the peer for a free slot of the ring.
  bool short_of_slots() const { return short_; }
  const Counters& counters() const { return counters_; }

 private:
  // What is out on one link that is up.
  struct Lane {
    Link* link = nullptr;
    std::map<uint32_t, Block> granted;  // WRITE: slots the peer may fill, by slot
    std::deque<Block> posted;           // SEND: posted receives, in order
    std::deque<Frame> announced;        // READ: blocks that wait at the peer
    std::map<uint64_t, Block> pulling;  // READ: reads under way, by work
    size_t outstanding() const { return granted.size() + posted.size(); }
  };

  void UseFreeSlots();
  void Grant(Lane& lane, Block slot);
  bool PullNext();
  absl::Status OnBlock(Lane& lane, const Frame& frame, std::span<std::byte> payload);
  absl::StatusOr<Block> TakeGranted(Lane& lane, const Frame& frame, std::span<std::byte> payload);
  void Arrived(Lane& lane, Block block);
  void TellAcknowledged();
  void TellAcknowledged(Lane& lane);
  void Tell(Lane& lane, FrameType type, uint64_t sequence);
  void Wake();

  Executor& executor_;
  const TransferOp op_;
  const std::shared_ptr<SlotPool> ring_;  // shared with the blocks that are out
  const flight::Trail trail_;
  Waker waker_;
  std::map<size_t, Lane> lanes_;  // by link index; only links that are up
  std::deque<Block> ready_;
  SequenceMark received_;
  uint64_t acknowledged_;
  uint64_t told_;         // the last acknowledgement sent
  bool ack_due_ = false;  // a timer will send the next
  bool short_ = false;
  size_t last_heard_ = 0;  // index of the link that brought the last frame
  uint64_t given_;
  uint64_t next_work_ = 0;
  std::optional<uint64_t> total_;
  Counters counters_;
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane
