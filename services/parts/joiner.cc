#include "services/parts/joiner.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "services/parts/host_copy.h"
#include "services/session/stream_values.h"

namespace tapedeck::services::parts {

using dataplane::Block;
using dataplane::BlockHeader;
using dataplane::Flow;

namespace {

// Blocks given before other work of the executor gets its turn.
constexpr int kTurn = 32;

}  // namespace

Joiner::Joiner(dataplane::Executor& executor, JoinSettings settings,
               std::unique_ptr<dataplane::Sink> sink)
    : executor_(executor),
      settings_(std::move(settings)),
      sink_(std::move(sink)),
      parts_(settings_.parts),
      next_(settings_.first) {
  sink_->SetWaker(
      [&executor, drain = lifetime_.Guard([this] { Drain(); })] { executor.Post(drain); });
}

absl::StatusOr<uint64_t> Joiner::SequenceOf(const Part& part, const BlockHeader& header) const {
  const uint64_t sequence = header.sample_index / settings_.block_samples;
  const bool possible = header.sample_index % settings_.block_samples == 0 &&
                        session::IsBlockCount(sequence, settings_.block_bytes);
  if (possible && sequence + settings_.spread >= part.seen) return sequence;
  return ProtocolViolation(
      {.message = "Block", .field = "sample_index"},
      absl::StrCat("block ", header.sequence, " of a part begins at sample ", header.sample_index,
                   " and came behind block ", part.seen, " of the stream, of ",
                   settings_.block_samples, " samples each: no part of a recording has that"));
}

// A part that has not come past the next block may bring it with the next push, and has room: the
// others wait for it, unless that makes nobody wait for them.
bool Joiner::HasRoom(const Part& part) const {
  if (part.waiting.empty()) return true;
  if (part.seen > next_ + settings_.spread) return false;
  return !RingIsFull(part) || NextIsLate();
}

bool Joiner::NextIsLate() const {
  return std::ranges::all_of(parts_,
                             [this](const Part& part) { return part.ended || part.seen > next_; });
}

absl::StatusOr<Flow> Joiner::Push(size_t number, Block* block) {
  Part& part = parts_[number];
  TD_RETURN_IF_ERROR(cause_);
  if (sated_) return Flow::kEnd;
  part.refused = !HasRoom(part);
  if (part.refused) return Flow::kNotNow;
  ++part.pushed;
  // What a part lacks another has, or nobody.
  if ((block->header().flags & dataplane::kBlockMissing) != 0) {
    block->Reset();
    return Flow::kMoved;
  }
  TD_ASSIGN_OR_RETURN(const uint64_t sequence, SequenceOf(part, block->header()));
  part.seen = std::max(part.seen, sequence + 1);
  const auto there = [&](const Part& other) { return other.waiting.contains(sequence); };
  const bool given = sequence < next_ || (sequence == next_ && !given_.empty());
  if (given || std::ranges::any_of(parts_, there)) {
    if (sequence >= settings_.first) ++counts_.twice;
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
    return part.ended || part.seen > next_ + settings_.spread;
  });
}

Block Joiner::TakeNext() {
  for (Part& part : parts_) {
    const auto it = part.waiting.find(next_);
    if (it == part.waiting.end()) continue;
    Block block = std::move(it->second);
    part.waiting.erase(it);
    if (block.slot() != kNoSlot) --part.in_ring;
    block.header().sequence = next_ - settings_.first;
    return block;
  }
  const bool more = std::ranges::any_of(parts_, [](const Part& p) { return !p.waiting.empty(); });
  if (!NobodyHasNext() || !more) return {};
  return Block::Missing({.sequence = next_ - settings_.first,
                         .sample_index = next_ * settings_.block_samples,
                         .flags = dataplane::kBlockMissing});
}

// What the sink has not consumed yet is bounded by its watermark, as missing blocks take no slot.
void Joiner::GiveSome() {
  for (int i = 0; cause_.ok() && !sated_; ++i) {
    if (counts_.blocks >= sink_->watermarks().durable + settings_.spread) return;
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
  const bool all = std::ranges::all_of(parts_, [](const Part& part) { return part.ended; });
  const bool none =
      std::ranges::all_of(parts_, [](const Part& part) { return part.waiting.empty(); });
  if (all && ((none && given_.empty()) || sated_ || !cause_.ok())) FinishSink();
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
