#include "services/session/parts/joiner.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/session/parts/host_copy.h"
#include "services/session/protocol/stream_values.h"

namespace tapedeck::services::parts {

using dataplane::Block;
using dataplane::BlockHeader;
using dataplane::Flow;

namespace {

// Blocks given before other work of the executor gets its turn.
constexpr int kTurn = 32;

bool IsDamaged(const BlockHeader& header) { return (header.flags & dataplane::kBlockDamaged) != 0; }

}  // namespace

Joiner::Joiner(dataplane::Executor& executor, JoinSettings settings,
               std::unique_ptr<dataplane::Sink> sink)
    : executor_(executor),
      settings_(std::move(settings)),
      sink_(std::move(sink)),
      parts_(settings_.parts),
      next_(settings_.first) {
  for (size_t i = 0; settings_.alone.has_value() && i < parts_.size(); ++i) {
    parts_[i].asleep = i != *settings_.alone;
  }
  sink_->SetWaker(
      [&executor, drain = lifetime_.Guard([this] { Drain(); })] { executor.Post(drain); });
}

absl::StatusOr<uint64_t> Joiner::SequenceOf(const Part& part, const BlockHeader& header) const {
  const uint64_t sequence = header.sample_index / settings_.block_samples;
  const bool possible = header.sample_index % settings_.block_samples == 0 &&
                        session::IsBlockCount(sequence, settings_.block_bytes);
  if (possible && sequence + settings_.reorder_window >= part.seen) return sequence;
  return ProtocolViolation(
      {.message = "Block", .field = "sample_index"},
      absl::StrCat("block ", header.sequence, " of a part begins at sample ", header.sample_index,
                   " after block ", part.seen, " of the stream, with ", settings_.block_samples,
                   " samples a block; such a part does not exist"));
}

// A part that has not come past the next block may bring it with the next push, and has room: the
// others wait for it, unless that makes nobody wait for them.
bool Joiner::HasRoom(const Part& part) const {
  if (part.waiting.empty()) return true;
  if (part.seen > next_ + settings_.reorder_window) return false;
  return !RingIsFull(part) || NextIsLate();
}

bool Joiner::NextIsLate() const {
  return std::ranges::all_of(parts_,
                             [this](const Part& part) { return part.ended || part.seen > next_; });
}

bool Joiner::IsKnown(uint64_t sequence, const BlockHeader& header) const {
  if (sequence < next_ || (sequence == next_ && !given_.empty())) return true;
  return std::ranges::any_of(parts_, [&](const Part& part) {
    const auto other = part.waiting.find(sequence);
    return other != part.waiting.end() && (IsDamaged(header) || !IsDamaged(other->second.header()));
  });
}

Block Joiner::TakeFrom(Part& part, uint64_t sequence) {
  const auto it = part.waiting.find(sequence);
  if (it == part.waiting.end()) return {};
  Block block = std::move(it->second);
  part.waiting.erase(it);
  if (block.slot() != kNoSlot) --part.in_ring;
  return block;
}

absl::StatusOr<Flow> Joiner::Push(size_t number, Block* block) {
  Part& part = parts_[number];
  TD_RETURN_IF_ERROR(cause_);
  if (sated_) return Flow::kEnd;
  part.refused = !HasRoom(part);
  if (part.refused) return Flow::kNotNow;
  ++part.pushed;
  // What a part lacks another has, or nobody; the stream is as long as this says all the same.
  if ((block->header().flags & dataplane::kBlockMissing) != 0) {
    const auto lacked = SequenceOf(part, block->header());
    if (lacked.ok()) part.seen = std::max(part.seen, *lacked + 1);
    block->Reset();
    executor_.Post(lifetime_.Guard([this] { Drain(); }));
    return Flow::kMoved;
  }
  TD_ASSIGN_OR_RETURN(const uint64_t sequence, SequenceOf(part, block->header()));
  part.seen = std::max(part.seen, sequence + 1);
  const bool known = IsKnown(sequence, block->header());
  // Else a whole one takes the place of a damaged one.
  bool twice = known;
  for (Part& other : parts_) {
    if (!known && !TakeFrom(other, sequence).empty()) twice = true;
  }
  if (twice && sequence >= settings_.first) ++counts_.twice;
  if (known) {
    block->Reset();
  } else if (RingIsFull(part)) {
    part.waiting[sequence] = HostCopy::Of(*block);
    block->Reset();
  } else {
    ++part.in_ring;
    part.waiting[sequence] = std::move(*block);
  }
  executor_.Post(lifetime_.Guard([this] { Drain(); }));
  return Flow::kMoved;
}

absl::StatusOr<Flow> Joiner::Finish(size_t number, const absl::Status& cause) {
  if (cause.ok() && cause_.ok() && !sated_ && !parts_[number].waiting.empty()) {
    Ended(number);
    return Flow::kNotNow;
  }
  Ended(number);
  return Flow::kEnd;
}

uint64_t Joiner::watermark(size_t number) const { return parts_[number].pushed; }

void Joiner::Ended(size_t number) {
  if (std::exchange(parts_[number].ended, true)) return;
  executor_.Post(lifetime_.Guard([this] { Drain(); }));
}

void Joiner::Abort(const absl::Status& cause) {
  if (cause_.ok()) cause_ = cause;
  for (Part& part : parts_) part.ended = true;
  executor_.Post(lifetime_.Guard([this] { Drain(); }));
}

// Each part has either ended or come so far that it gives no block below any more.
bool Joiner::NobodyHasNext() const {
  return std::ranges::all_of(parts_, [this](const Part& part) {
    return part.ended || part.seen > next_ + settings_.reorder_window;
  });
}

bool Joiner::HasWholeNext() const {
  return std::ranges::any_of(parts_, [this](const Part& part) {
    const auto it = part.waiting.find(next_);
    return it != part.waiting.end() && !IsDamaged(it->second.header());
  });
}

bool Joiner::Starves() const { return !sated_ && cause_.ok() && given_.empty() && !HasWholeNext(); }

bool Joiner::WantsMore() const {
  return std::ranges::any_of(parts_, &Part::asleep) && Starves() &&
         std::ranges::all_of(parts_, [this](const Part& part) {
           return part.asleep || part.ended || part.seen > next_;
         });
}

void Joiner::Wake() {
  bool any = false;
  for (Part& part : parts_) any = std::exchange(part.asleep, false) || any;
  if (any) executor_.Post(lifetime_.Guard([this] { settings_.on_wanted(); }));
}

bool Joiner::Remains() const {
  return std::ranges::any_of(
      parts_, [this](const Part& part) { return !part.waiting.empty() || part.seen > next_; });
}

Block Joiner::TakeNext() {
  const bool last_chance = NobodyHasNext();
  for (Part& part : parts_) {
    const auto it = part.waiting.find(next_);
    if (it == part.waiting.end()) continue;
    // Another part may bring a whole one.
    if (IsDamaged(it->second.header()) && !last_chance) return {};
    Block block = TakeFrom(part, next_);
    block.header().sequence = next_ - settings_.first;
    return block;
  }
  if (!last_chance || !Remains()) return {};
  return Block::Missing({.sequence = next_ - settings_.first,
                         .sample_index = next_ * settings_.block_samples,
                         .flags = dataplane::kBlockMissing});
}

// What the sink has not consumed yet is bounded by its watermark, as missing blocks take no slot.
void Joiner::GiveSome() {
  for (int i = 0; cause_.ok() && !sated_; ++i) {
    if (counts_.blocks >= sink_->watermarks().durable + settings_.reorder_window) return;
    if (i == kTurn) return executor_.Post(lifetime_.Guard([this] { Drain(); }));
    if (given_.empty()) given_ = TakeNext();
    if (given_.empty()) return;
    const BlockHeader header = given_.header();
    const auto flow = sink_->Push(&given_);
    if (!flow.ok()) cause_ = flow.status();
    if (!flow.ok() || *flow == Flow::kNotNow) return;
    sated_ = *flow == Flow::kEnd;
    if (sated_) return;
    given_ = Block();
    ++next_;
    ++counts_.blocks;
    counts_.bytes += header.payload_bytes;
    constexpr uint32_t kNotWhole = dataplane::kBlockMissing | dataplane::kBlockDamaged;
    if ((header.flags & kNotWhole) != 0) ++counts_.missing;
  }
}

void Joiner::Drain() {
  if (done_) return;
  const uint64_t before = next_;
  GiveSome();
  if (cause_.ok()) cause_ = sink_->status();
  if (next_ != before || sated_ || !cause_.ok() || NextIsLate()) WakeRefused();
  for (Part& part : parts_) {
    if (part.ended && part.waiting.empty() && part.waker) part.waker();
  }
  if (WantsMore()) Wake();
  const bool over = sated_ || !cause_.ok();
  const bool all = std::ranges::all_of(
      parts_, [over](const Part& part) { return part.ended || (part.asleep && over); });
  if (all && ((!Remains() && given_.empty()) || over)) FinishSink();
}

void Joiner::FinishSink() {
  given_ = Block();
  const auto flow = sink_->Finish(cause_);
  if (!flow.ok() && cause_.ok()) {
    cause_ = flow.status();
    executor_.Post(lifetime_.Guard([this] { Drain(); }));
    return;
  }
  if (flow.ok() && *flow != Flow::kEnd) return;
  Conclude(cause_);
}

void Joiner::Conclude(const absl::Status& status) {
  if (std::exchange(done_, true)) return;
  executor_.Post(lifetime_.Guard([this, status] { settings_.on_done(status); }));
}

void Joiner::WakeRefused() {
  for (Part& part : parts_) {
    if (std::exchange(part.refused, false) && part.waker) part.waker();
  }
}

}  // namespace tapedeck::services::parts
