// Deals the blocks of one stream to the parts of a recording, each of which goes to a storage node
// of its own. A part's session pulls its blocks from its own source under a sequence of its own,
// from 0 without holes; which block of the stream one is says its sample index, which every header
// keeps.
//
// A part holds no more blocks that nobody has acknowledged than its share of the ring: the ring is
// shared out by the rates of the parts, so that each would be done at the same time with what it
// has. A node that is slow so keeps few slots from the others.
//
// Each block may have two copies, in two parts: it is done when both are acknowledged, or the one
// that there is when no other part is left to take it. Where there are no more parts than copies
// each gets all blocks, but for a quarter of the ring, and none is held back for another.
//
// A suspected part (answering.h) gets no more blocks, and others may get those that it has; it
// keeps their slots, and what it acknowledges counts all the same.
//
// What a lost part had goes to others behind newer blocks. Whoever joins the parts need not look
// far for it (reorder_window.h): no block is dealt that is further ahead of the first
// unacknowledged one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/block/sequence_mark.h"
#include "dataplane/block/source.h"
#include "dataplane/clock.h"
#include "services/session/parts/open_blocks.h"

namespace tapedeck::services::parts {

// On the executor of its dealer.
class AckRate {
 public:
  // Blocks a nanosecond; 0: not measured.
  double per_ns() const { return per_ns_; }

  // It has blocks now, and had none; or it had some, and their time does not count.
  void Begin(int64_t now_ns) { busy_since_ns_ = now_ns; }
  void Forget() {
    window_ns_ = 0;
    window_blocks_ = 0;
  }

  void Acknowledged(int64_t now_ns, uint64_t blocks) {
    window_ns_ += now_ns - busy_since_ns_;
    window_blocks_ += blocks;
    busy_since_ns_ = now_ns;
    if (window_ns_ < kWindowNs) return;
    const double rate = static_cast<double>(window_blocks_) / static_cast<double>(window_ns_);
    per_ns_ = per_ns_ == 0 ? rate : (1 - kWeight) * per_ns_ + kWeight * rate;
    Forget();
  }

  // Of one that has blocks: as slow as the time since it has acknowledged any says.
  double Bound(int64_t now_ns, double rate) const {
    const auto since_ns = static_cast<double>(window_ns_ + now_ns - busy_since_ns_);
    if (since_ns < kWindowNs) return rate;
    return std::min(rate, static_cast<double>(window_blocks_ + 1) / since_ns);
  }

 private:
  // Storage nodes acknowledge a group of blocks with each flush: a shorter time measures one flush.
  static constexpr int64_t kWindowNs = 100 * dataplane::kMillisecondNs;
  static constexpr double kWeight = 0.25;  // of a new window

  double per_ns_ = 0;
  int64_t busy_since_ns_ = 0;
  int64_t window_ns_ = 0;  // of a measurement: time with blocks
  uint64_t window_blocks_ = 0;
};

struct DealCounts {
  uint64_t blocks = 0;        // given by the stream
  uint64_t acknowledged = 0;  // of those, each once
  uint64_t bytes = 0;         // of payload, of the acknowledged
  uint64_t missing = 0;       // given without payload
  uint64_t again = 0;         // dealt a second time, since the first part lost its session
  uint64_t too_few = 0;       // of the acknowledged: with fewer copies than they were to have
  uint64_t first_too_few = UINT64_MAX;  // of those the lowest
};

// How a stream is dealt.
struct DealSettings {
  uint64_t block_samples = 0;   // of a full block
  size_t slots = 0;             // of the ring that its blocks are in
  uint64_t reorder_window = 0;  // as reorder_window.h has it
  size_t parts = 0;
  uint32_t copies = 1;  // of each block, at most `parts`
};

// On the executor of its parts' sessions.
class Dealer {
 public:
  // `source` gives blocks in order from 0. `clock` outlives it.
  Dealer(const dataplane::Clock& clock, std::unique_ptr<dataplane::Source> source,
         const DealSettings& settings);

  // As dataplane::Source has it, for the part's own source.
  absl::StatusOr<dataplane::Flow> Pull(size_t part, dataplane::Block* block);
  void SetWaker(size_t part, dataplane::Waker waker);
  void Acknowledge(size_t part, uint64_t watermark);
  absl::Status Reject(const dataplane::BlockHeader& header) { return source_->Reject(header); }

  // The part's session was lost with these, in order: they go to the others, and all else that the
  // part was given is acknowledged. Until it pulls again it has no share.
  void GiveBack(size_t part, std::vector<dataplane::Block> blocks);

  // The part acknowledges nothing, and has not lost its session: until it is trusted again. One
  // that is silent, too, is waited for with no block that has another copy.
  void Suspect(size_t part, bool silent);
  void Trust(size_t part);

  // The stream gives no more; what it has given is still dealt.
  void End();

  // All that the stream gave is acknowledged, and it gives no more.
  bool complete() const;
  // Of the stream itself: then no part can go on.
  const absl::Status& error() const { return error_; }
  const DealCounts& counts() const { return counts_; }
  // The first block that has too few copies since too few parts were left; none: they are enough.
  std::optional<uint64_t> degraded_from() const { return degraded_from_; }
  // Blocks that a part may hold now.
  size_t Share(size_t part) const;
  // Of all that it was given: how many it has acknowledged, and how many it has not.
  uint64_t acknowledged(size_t part) const { return parts_[part].next - parts_[part].out.size(); }
  size_t open(size_t part) const { return parts_[part].out.size(); }
  // It has the block that the stream waits for.
  bool HoldsUp(size_t part) const;

 private:
  struct Out {
    uint64_t own = 0;     // sequence of the part
    uint64_t stream = 0;  // of the stream
  };
  struct Part {
    std::deque<Out> out;  // dealt, not acknowledged
    uint64_t next = 0;    // its sequence
    bool away = false;
    bool suspected = false;
    bool silent = false;
    bool refused = false;         // it has asked for more
    uint64_t left_to_others = 0;  // the number of the last block that it could have had
    dataplane::Waker waker;
    AckRate rate;
  };

  void Come(size_t number);
  bool AnotherComesFirst(size_t number, uint64_t block);
  // kMoved: there is one more that is open.
  absl::StatusOr<dataplane::Flow> Next();
  bool IsHeldUp() const {
    return counts_.blocks >= acknowledged_.mark() + settings_.reorder_window;
  }
  absl::StatusOr<dataplane::Flow> FromStream(dataplane::Block* block);
  dataplane::Block Give(size_t number, uint64_t block);
  void Acknowledged(const OpenBlocks::Done& done);
  // Fewer parts are there.
  void ResolveAll();
  double RateOf(const Part& part, double unmeasured) const;
  void WakeRefused();
  // Those that are waited for.
  PartSet Present() const;
  bool HasEnough() const;

  const dataplane::Clock& clock_;
  const std::unique_ptr<dataplane::Source> source_;
  const DealSettings settings_;
  std::vector<Part> parts_;
  uint64_t dealt_ = 0;     // blocks, each time they were
  size_t last_given_ = 0;  // the part that got the last one
  OpenBlocks open_;
  dataplane::Block last_;  // a partial one waits until it is the last
  dataplane::SequenceMark acknowledged_;
  std::optional<uint64_t> degraded_from_;
  bool ended_ = false;
  absl::Status error_;
  DealCounts counts_;
  // The source's waker may be called from any thread, the parts' are set once.
  struct Wakers;
  const std::shared_ptr<Wakers> wakers_;
};

}  // namespace tapedeck::services::parts
