#include "dataplane/transfer/receiver.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane {
namespace {

// A sequence this far beyond what has been acknowledged is no block of this session: an honest
// sender holds every block until then, in a ring of 4096 slots at most, and kMaxMissingHeld
// without payload. It bounds what a hostile one can make the receiver and those behind it remember.
constexpr uint64_t kMaxAhead = 8192;

// Blocks that wait at the peer, on one link. An honest sender announces at most kMaxLaneDepth; the
// rest is for those whose word of arrival is on its way.
constexpr size_t kMaxAnnounced = 4 * kMaxLaneDepth;

// An acknowledgement waits for this many blocks, or this long. Each is a packet of its own; the
// sender only needs them before its ring is full.
constexpr uint64_t kAckEvery = 4;
constexpr int64_t kAckDelayNs = kMillisecondNs;

}  // namespace

Receiver::Receiver(Executor& executor, TransferOp op, std::shared_ptr<SlotPool> ring,
                   flight::Trail trail, uint64_t first)
    : executor_(executor),
      op_(op),
      ring_(std::move(ring)),
      trail_(trail),
      acknowledged_(first),
      told_(first),
      given_(first) {
  received_.AddBelow(first);
  ring_->SetWaker(
      [&executor, use = lifetime_.Guard([this] { UseFreeSlots(); })] { executor.Post(use); });
}

void Receiver::SetTotal(uint64_t blocks) {
  total_ = blocks;
  Wake();
}

absl::StatusOr<Flow> Receiver::Pull(Block* block) {
  if (ready_.empty()) return total_ == given_ ? Flow::kEnd : Flow::kNotNow;
  *block = std::move(ready_.front());
  ready_.pop_front();
  ++given_;
  return Flow::kMoved;
}

void Receiver::Acknowledge(uint64_t watermark) {
  if (watermark <= acknowledged_) return;
  acknowledged_ = watermark;
  if (acknowledged_ - told_ >= kAckEvery) return TellAcknowledged();
  if (std::exchange(ack_due_, true)) return;
  executor_.PostAfter(kAckDelayNs, lifetime_.Guard([this] { TellAcknowledged(); }));
}

// Over one link: should it fail with this in flight, OnLinkDown tells the others.
void Receiver::TellAcknowledged() {
  ack_due_ = false;
  if (told_ == acknowledged_ || lanes_.empty()) return;
  told_ = acknowledged_;
  const auto lane = lanes_.find(last_heard_);
  TellAcknowledged(lane != lanes_.end() ? lane->second : lanes_.begin()->second);
}

void Receiver::TellAcknowledged(Lane& lane) {
  trail_.Stamp(flight::Kind::kTold, {.sequence = acknowledged_});
  Tell(lane, FrameType::kAck, acknowledged_);
}

absl::Status Receiver::Reject(const BlockHeader& header) {
  const uint64_t sequence = header.sequence;
  --given_;
  // The sequence counts as not received again; those above the hole stay known.
  received_.Remove(sequence);
  for (auto& [index, lane] : lanes_) {
    Tell(lane, FrameType::kResend, sequence);
    break;
  }
  return absl::OkStatus();
}

void Receiver::OnLinkUp(Link& link) {
  Lane& lane = lanes_[link.index()];
  lane.link = &link;
  trail_.Stamp(flight::Kind::kRailUp, {.place = link.index()});
  if (acknowledged_ > 0) TellAcknowledged(lane);
  UseFreeSlots();
}

void Receiver::OnLinkDown(Link& link, const absl::Status&) {
  trail_.Stamp(flight::Kind::kRailDown, {.place = link.index()});
  lanes_.erase(link.index());
  told_ = 0;
  TellAcknowledged();
  UseFreeSlots();
}

void Receiver::OnLinkFrame(Link& link, const Frame& frame, std::span<std::byte> payload) {
  const auto lane = lanes_.find(link.index());
  if (lane == lanes_.end()) return;
  last_heard_ = link.index();
  const absl::Status status = OnBlock(lane->second, frame, payload);
  if (!status.ok()) return link.Close(status);
  UseFreeSlots();
}

absl::Status Receiver::OnBlock(Lane& lane, const Frame& frame, std::span<std::byte> payload) {
  if (frame.type != FrameType::kBlock) {
    return absl::InvalidArgumentError(
        "the sending end granted slots, which only the receiving end may do");
  }
  if (frame.block.payload_bytes > ring_->slot_bytes() ||
      frame.block.sequence >= acknowledged_ + kMaxAhead ||
      (total_.has_value() && frame.block.sequence >= *total_)) {
    return absl::InvalidArgumentError(absl::StrCat("block ", frame.block.sequence, " of ",
                                                   frame.block.payload_bytes,
                                                   " bytes does not belong to this session"));
  }
  if (frame.block.payload_bytes == 0) {
    Arrived(lane, Block::Missing(frame.block));
  } else if (op_ == TransferOp::kRead) {
    if (lane.announced.size() >= kMaxAnnounced) {
      return absl::ResourceExhaustedError(absl::StrCat("the sending end announced more than ",
                                                       kMaxAnnounced,
                                                       " blocks that this end has not pulled"));
    }
    lane.announced.push_back(frame);
  } else {
    TD_ASSIGN_OR_RETURN(Block block, TakeGranted(lane, frame, payload));
    block.header() = frame.block;
    Arrived(lane, std::move(block));
  }
  return absl::OkStatus();
}

absl::StatusOr<Block> Receiver::TakeGranted(Lane& lane, const Frame& frame,
                                            std::span<std::byte> payload) {
  if (op_ == TransferOp::kWrite) {
    auto slot = lane.granted.extract(frame.slot);
    if (slot.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "block ", frame.block.sequence, " lies in slot ", frame.slot, ", which was not granted"));
    }
    return std::move(slot.mapped());
  }
  if (lane.posted.empty() || payload.size() != frame.block.payload_bytes ||
      payload.data() != lane.posted.front().memory().data()) {
    return absl::InvalidArgumentError(
        absl::StrCat("block ", frame.block.sequence, " does not have the payload it names"));
  }
  Block block = std::move(lane.posted.front());
  lane.posted.pop_front();
  return block;
}

void Receiver::OnLinkCompleted(Link& link, uint64_t work) {
  const auto lane = lanes_.find(link.index());
  if (lane == lanes_.end()) return;
  auto pulled = lane->second.pulling.extract(work);
  if (pulled.empty()) return;
  Arrived(lane->second, std::move(pulled.mapped()));
  UseFreeSlots();
}

void Receiver::Arrived(Lane& lane, Block block) {
  const uint64_t sequence = block.header().sequence;
  lane.link->CountReceived(block.header().payload_bytes);
  Tell(lane, FrameType::kReceived, sequence);
  if (!received_.Add(sequence)) {
    ++counters_.duplicate_blocks;
    return;
  }
  ready_.push_back(std::move(block));
  trail_.Stamp(flight::Kind::kArrived,
               {.sequence = sequence, .argument = ready_.size(), .place = lane.link->index()});
  Wake();
}

// Free slots go to announced blocks (READ), or to the lanes that have the fewest.
void Receiver::UseFreeSlots() {
  short_ = false;
  if (op_ == TransferOp::kRead) {
    while (PullNext()) {
    }
    return;
  }
  while (!lanes_.empty()) {
    // With a slow consumer all lanes wait with nothing: then they take turns.
    Lane& lane =
        std::ranges::min_element(lanes_, {}, [](const auto& entry) {
          return std::pair(entry.second.outstanding(), entry.second.link->traffic().blocks);
        })->second;
    if (lane.outstanding() >= LaneDepth(ring_->slot_bytes(), lanes_.size())) return;
    std::optional<Block> slot = ring_->Take();
    if (!slot.has_value()) {
      short_ = lane.outstanding() == 0;  // else the peer may have some yet
      return;
    }
    Grant(lane, *std::move(slot));
  }
}

void Receiver::Grant(Lane& lane, Block slot) {
  const Frame frame{.type = FrameType::kGrant, .slot = slot.slot()};
  if (op_ == TransferOp::kSend) {
    lane.link->GrantReceive(frame, slot.memory());
    lane.posted.push_back(std::move(slot));
  } else {
    lane.link->GrantWrite(frame, slot.memory());
    lane.granted.emplace(slot.slot(), std::move(slot));
  }
}

// Starts the read of the announced block with the lowest sequence among those at the head of their
// lanes.
bool Receiver::PullNext() {
  Lane* next = nullptr;
  const size_t depth = LaneDepth(ring_->slot_bytes(), lanes_.size());
  for (auto& [index, lane] : lanes_) {
    if (lane.announced.empty() || lane.pulling.size() >= depth) continue;
    if (next == nullptr ||
        lane.announced.front().block.sequence < next->announced.front().block.sequence) {
      next = &lane;
    }
  }
  if (next == nullptr) return false;
  if (received_.Has(next->announced.front().block.sequence)) {
    ++counters_.duplicate_blocks;
    Tell(*next, FrameType::kReceived, next->announced.front().block.sequence);
    next->announced.pop_front();
    return true;
  }
  std::optional<Block> slot = ring_->Take();
  short_ = !slot.has_value();
  if (short_) return false;
  const Frame frame = next->announced.front();
  next->announced.pop_front();
  slot->header() = frame.block;
  const uint64_t work = next_work_++;
  trail_.Stamp(flight::Kind::kAsked,
               {.sequence = frame.block.sequence, .place = next->link->index()});
  next->link->Read(slot->payload(), frame.slot * ring_->slot_bytes(), work);
  next->pulling.emplace(work, *std::move(slot));
  return true;
}

void Receiver::Tell(Lane& lane, FrameType type, uint64_t sequence) {
  Frame frame{.type = type};
  frame.block.sequence = sequence;
  lane.link->Send(frame, {}, 0);
}

void Receiver::Wake() {
  if (waker_) waker_();
}

}  // namespace tapedeck::dataplane
